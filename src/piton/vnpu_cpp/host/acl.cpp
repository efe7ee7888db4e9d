/*
 * The runtime API (include/host/acl/acl.h) of whole programs and plugins.
 *
 * Problem: programs are written against a driver whose calls fail with a number that is often not looked at.
 * Approach: each call is one request to the device process; a call that fails returns the documented number, keeps its words for aclGetRecentErrMsg, and is
 * told to the parent with the place of the call. After a kernel was stopped every call answers with the number of an AI core exception, as on the chip. Limits:
 * as in the header.
 */
#include "../include/host/acl/acl.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../engine/half.h"
#include "../engine/memory.h"
#include "../include/vnpu/host_abi.h"
#include "device_failure.h"
#include "transport.h"

// The place of the call that the API function runs for: has to be evaluated in that function itself.
#define PITON_CALLER __builtin_return_address(0)

namespace {

namespace host = piton::host;

constexpr size_t kChunkBytes = 32u << 20;  // a message to the device holds at most twice this
constexpr size_t kHostAlign = 64;          // of pinned host memory

struct Event {
    bool is_recorded = false;
    uint64_t cycles = 0;
};

// The API has no handle for the process, so its state is found here; the connection it works on is one per process too.
struct Runtime {
    std::mutex lock;
    std::map<uint64_t, host::DeviceBlock> device_blocks;
    std::set<void *> host_blocks;
    std::set<void *> streams;
    std::set<void *> contexts;
    std::set<void *> events;
    void *current_context = nullptr;
    std::string recent_error;
    bool is_stopped = false;
    bool is_initialized = false;
};

Runtime &runtime() {
    static Runtime state;
    return state;
}

aclError fail(aclError code, const std::string &message, const void *caller, const char *cause = "bad_parameter") {
    runtime().recent_error = message;
    host::notice(cause, message, caller);
    return code;
}

// Do `work`, which talks to the device. What the device refuses is the caller's mistake, unless it was stopped: then the reason is in its log already.
template <typename Work>
aclError guarded(const char *api, const void *caller, Work &&work) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (runtime().is_stopped) return ACL_ERROR_RT_AICORE_EXCEPTION;
    try {
        return work();
    } catch (const std::exception &error) {
        return fail(ACL_ERROR_RT_PARAM_INVALID, std::string(api) + ": " + error.what(), caller);
    }
}

aclError stopped_or_success() { return runtime().is_stopped ? ACL_ERROR_RT_AICORE_EXCEPTION : ACL_SUCCESS; }

bool is_device(const void *address) {
    const auto at = reinterpret_cast<uint64_t>(address);
    return at >= vnpu::kArenaBase && at < vnpu::kArenaBase + vnpu::kArenaBytes;
}

aclrtMemcpyKind kind_of(const void *to, const void *from) {
    if (is_device(to)) return is_device(from) ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
    return is_device(from) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST;
}

const char *name_of(aclrtMemcpyKind kind) {
    static const char *const names[] = {"host to host", "host to device", "device to host", "device to device", "default"};
    return names[kind];
}

void upload(uint64_t to, const char *from, size_t count) {
    for (size_t done = 0; done < count; done += kChunkBytes) host::copy_in(to + done, from + done, std::min(kChunkBytes, count - done));
}

void download(char *to, uint64_t from, size_t count) {
    for (size_t done = 0; done < count; done += kChunkBytes) host::copy_out(to + done, from + done, std::min(kChunkBytes, count - done));
}

void copy(void *to, const void *from, size_t count, aclrtMemcpyKind kind) {
    switch (kind) {
        case ACL_MEMCPY_HOST_TO_DEVICE:
            return upload(reinterpret_cast<uint64_t>(to), static_cast<const char *>(from), count);
        case ACL_MEMCPY_DEVICE_TO_HOST:
            return download(static_cast<char *>(to), reinterpret_cast<uint64_t>(from), count);
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
            return host::copy_device(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), count);
        default:
            std::memmove(to, from, count);
    }
}

// Why a copy of `count` bytes cannot be made; empty when it can.
std::string wrong_copy(const void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind) {
    if (to == nullptr || from == nullptr) return to == nullptr ? "the destination is a null pointer" : "the source is a null pointer";
    if (count > room) return std::to_string(count) + " bytes into a destination of " + std::to_string(room);
    if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_DEFAULT) return "there is no copy of kind " + std::to_string(static_cast<int>(kind));
    const aclrtMemcpyKind actual = kind_of(to, from);
    if (kind == ACL_MEMCPY_DEFAULT || kind == actual) return "";
    return std::string("called with kind ") + name_of(kind) + ", but the pointers are " + name_of(actual);
}

aclError checked_copy(const char *api, void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind, const void *caller) {
    return guarded(api, caller, [&] {
        const std::string wrong = wrong_copy(to, room, from, count, kind);
        if (!wrong.empty()) return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": " + wrong, caller);
        copy(to, from, count, kind_of(to, from));
        return ACL_SUCCESS;
    });
}

aclError allocate(const char *api, void **made, size_t size, const void *caller) {
    return guarded(api, caller, [&] {
        if (made == nullptr || size == 0)
            return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + (made ? ": 0 bytes asked for" : ": no place for the pointer"), caller);
        try {
            const host::DeviceBlock block = host::allocate(size);
            runtime().device_blocks[block.address] = block;
            *made = reinterpret_cast<void *>(block.address);
            return ACL_SUCCESS;
        } catch (const std::exception &error) {  // the device has logged why
            runtime().recent_error = error.what();
            return ACL_ERROR_RT_MEMORY_ALLOCATION;
        }
    });
}

aclError set_bytes(const char *api, void *to, size_t room, int32_t value, size_t count, const void *caller) {
    return guarded(api, caller, [&] {
        if (to == nullptr || count > room) {
            const std::string wrong = to ? std::to_string(count) + " bytes into a destination of " + std::to_string(room) : "the destination is a null pointer";
            return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": " + wrong, caller);
        }
        if (!is_device(to)) return std::memset(to, value, count), ACL_SUCCESS;
        const std::vector<char> bytes(std::min(kChunkBytes, count), static_cast<char>(value));
        for (size_t done = 0; done < count; done += bytes.size())
            host::copy_in(reinterpret_cast<uint64_t>(to) + done, bytes.data(), std::min(bytes.size(), count - done));
        return ACL_SUCCESS;
    });
}

// Streams, contexts and events are small objects whose address is the handle.
template <typename Object>
aclError create(const char *api, void **made, std::set<void *> &alive, const void *caller) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (made == nullptr) return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": no place for the handle", caller);
    *made = new Object();
    alive.insert(*made);
    return ACL_SUCCESS;
}

template <typename Object>
aclError destroy(const char *api, void *object, std::set<void *> &alive, const void *caller) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (alive.erase(object) == 0) return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": no such handle, or destroyed before", caller);
    delete static_cast<Object *>(object);
    return ACL_SUCCESS;
}

// A null stream is the default stream.
aclError with_stream(const char *api, void *stream, const void *caller) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (stream != nullptr && runtime().streams.count(stream) == 0)
        return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": no such stream, or destroyed before", caller);
    return stopped_or_success();
}

template <typename Work>
aclError with_event(const char *api, void *event, const void *caller, Work &&work) {
    return guarded(api, caller, [&] {
        if (runtime().events.count(event) == 0) return fail(ACL_ERROR_INVALID_PARAM, std::string(api) + ": no such event, or destroyed before", caller);
        return work(*static_cast<Event *>(event));
    });
}

aclError wrong_device(const char *api, int64_t device, const void *caller) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, std::string(api) + ": device " + std::to_string(device) + "; the virtual NPU has device 0 only", caller);
}

// The answer to aclrtGetDeviceInfo; -1 for a question it does not know.
int64_t device_figure(aclrtDevAttr attribute) {
    switch (attribute) {
        case ACL_DEV_ATTR_AICORE_CORE_NUM:
        case ACL_DEV_ATTR_CUBE_CORE_NUM:
            return static_cast<int64_t>(piton_host_platform(PITON_PLATFORM_CORES_AIC));
        case ACL_DEV_ATTR_VECTOR_CORE_NUM:
            return static_cast<int64_t>(piton_host_platform(PITON_PLATFORM_CORES_AIV));
        case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
            return static_cast<int64_t>(piton_host_platform(PITON_PLATFORM_UB_BYTES));
        case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
            return static_cast<int64_t>(piton_host_platform(PITON_PLATFORM_HBM_BYTES));
        case ACL_DEV_ATTR_L2_CACHE_SIZE:
            return static_cast<int64_t>(piton_host_platform(PITON_PLATFORM_L2_BYTES));
        default:
            return -1;
    }
}

struct Stream {};
struct Context {};

}  // namespace

namespace piton::host {

void note_device_failure(const std::string &why) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    runtime().is_stopped = true;
    runtime().recent_error = why;
}

}  // namespace piton::host

extern "C" {

aclError aclInit(const char *) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (runtime().is_initialized) return ACL_ERROR_REPEAT_INITIALIZE;
    runtime().is_initialized = true;
    return ACL_SUCCESS;
}

aclError aclFinalize() {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    runtime().is_initialized = false;
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device) { return device == 0 ? ACL_SUCCESS : wrong_device("aclrtSetDevice", device, PITON_CALLER); }

aclError aclrtResetDevice(int32_t device) { return device == 0 ? stopped_or_success() : wrong_device("aclrtResetDevice", device, PITON_CALLER); }

aclError aclrtResetDeviceForce(int32_t device) { return device == 0 ? stopped_or_success() : wrong_device("aclrtResetDeviceForce", device, PITON_CALLER); }

aclError aclrtGetDevice(int32_t *device) {
    if (device == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDevice: no place for the answer", PITON_CALLER);
    *device = 0;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count) {
    if (count == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceCount: no place for the answer", PITON_CALLER);
    *count = 1;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t *value) {
    if (device != 0) return wrong_device("aclrtGetDeviceInfo", device, PITON_CALLER);
    const int64_t figure = device_figure(attribute);
    if (value == nullptr || figure < 0) {
        const std::string wrong = value ? "attribute " + std::to_string(static_cast<int>(attribute)) + " is not known here" : "no place for the answer";
        return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceInfo: " + wrong, PITON_CALLER);
    }
    *value = figure;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(aclrtRunMode *mode) {
    if (mode == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetRunMode: no place for the answer", PITON_CALLER);
    *mode = ACL_HOST;
    return ACL_SUCCESS;
}

// Of the interface that is offered here; the runtime that answers is Piton's.
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch) {
    if (major == nullptr || minor == nullptr || patch == nullptr)
        return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: no place for the answer", PITON_CALLER);
    *major = 1;
    *minor = *patch = 0;
    return ACL_SUCCESS;
}

const char *aclrtGetSocName() { return "Ascend910B"; }

const char *aclGetRecentErrMsg() {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    return runtime().recent_error.empty() ? nullptr : runtime().recent_error.c_str();
}

aclError aclrtSynchronizeDevice() {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    return stopped_or_success();
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    return stopped_or_success();
}

aclError aclrtCreateContext(aclrtContext *context, int32_t device) {
    if (device != 0) return wrong_device("aclrtCreateContext", device, PITON_CALLER);
    const aclError code = create<Context>("aclrtCreateContext", context, runtime().contexts, PITON_CALLER);
    if (code == ACL_SUCCESS) runtime().current_context = *context;
    return code;
}

aclError aclrtDestroyContext(aclrtContext context) { return destroy<Context>("aclrtDestroyContext", context, runtime().contexts, PITON_CALLER); }

aclError aclrtSetCurrentContext(aclrtContext context) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (runtime().contexts.count(context) == 0) return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: no such context", PITON_CALLER);
    runtime().current_context = context;
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context) {
    if (context == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: no place for the answer", PITON_CALLER);
    *context = runtime().current_context;
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream) { return create<Stream>("aclrtCreateStream", stream, runtime().streams, PITON_CALLER); }

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t, uint32_t) {
    return create<Stream>("aclrtCreateStreamWithConfig", stream, runtime().streams, PITON_CALLER);
}

aclError aclrtDestroyStream(aclrtStream stream) { return destroy<Stream>("aclrtDestroyStream", stream, runtime().streams, PITON_CALLER); }

aclError aclrtDestroyStreamForce(aclrtStream stream) { return destroy<Stream>("aclrtDestroyStreamForce", stream, runtime().streams, PITON_CALLER); }

aclError aclrtSynchronizeStream(aclrtStream stream) { return with_stream("aclrtSynchronizeStream", stream, PITON_CALLER); }

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t) { return with_stream("aclrtSynchronizeStreamWithTimeout", stream, PITON_CALLER); }

aclError aclrtCreateEvent(aclrtEvent *event) { return create<Event>("aclrtCreateEvent", event, runtime().events, PITON_CALLER); }

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) { return create<Event>("aclrtCreateEventWithFlag", event, runtime().events, PITON_CALLER); }

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t) { return create<Event>("aclrtCreateEventExWithFlag", event, runtime().events, PITON_CALLER); }

aclError aclrtDestroyEvent(aclrtEvent event) { return destroy<Event>("aclrtDestroyEvent", event, runtime().events, PITON_CALLER); }

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream) {
    return with_event("aclrtRecordEvent", event, PITON_CALLER, [](Event &found) {
        found.cycles = host::elapsed_cycles();
        found.is_recorded = true;
        return ACL_SUCCESS;
    });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream) {
    return with_event("aclrtResetEvent", event, PITON_CALLER, [](Event &found) {
        found.is_recorded = false;
        return ACL_SUCCESS;
    });
}

aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent event) {
    return with_event("aclrtStreamWaitEvent", event, PITON_CALLER, [](Event &) { return ACL_SUCCESS; });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    return with_event("aclrtSynchronizeEvent", event, PITON_CALLER, [](Event &) { return ACL_SUCCESS; });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) {
    const void *caller = PITON_CALLER;
    return with_event("aclrtQueryEventStatus", event, caller, [&](Event &found) {
        if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: no place for the answer", caller);
        *status = found.is_recorded ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
        return ACL_SUCCESS;
    });
}

aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end) {
    const void *caller = PITON_CALLER;
    return with_event("aclrtEventElapsedTime", start, caller, [&](Event &first) {
        if (milliseconds == nullptr || runtime().events.count(end) == 0)
            return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: no such event, or no place for the answer", caller);
        const Event &last = *static_cast<Event *>(end);
        if (!first.is_recorded || !last.is_recorded)
            return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: an event that was not recorded has no time", caller);
        const double hertz = static_cast<double>(piton_host_platform(PITON_PLATFORM_CLOCK_HZ));
        *milliseconds = static_cast<float>((static_cast<double>(last.cycles) - static_cast<double>(first.cycles)) / hertz * 1e3);
        return ACL_SUCCESS;
    });
}

aclError aclrtMalloc(void **made, size_t size, aclrtMemMallocPolicy) { return allocate("aclrtMalloc", made, size, PITON_CALLER); }

aclError aclrtMallocAlign32(void **made, size_t size, aclrtMemMallocPolicy) { return allocate("aclrtMallocAlign32", made, size, PITON_CALLER); }

aclError aclrtMallocCached(void **made, size_t size, aclrtMemMallocPolicy) { return allocate("aclrtMallocCached", made, size, PITON_CALLER); }

aclError aclrtFree(void *pointer) {
    const void *caller = PITON_CALLER;
    return guarded("aclrtFree", caller, [&] {
        const auto found = runtime().device_blocks.find(reinterpret_cast<uint64_t>(pointer));
        if (found == runtime().device_blocks.end())
            return fail(ACL_ERROR_INVALID_PARAM, "aclrtFree: the pointer is not one of aclrtMalloc, or was freed before", caller);
        host::release(found->second);
        runtime().device_blocks.erase(found);
        return ACL_SUCCESS;
    });
}

aclError aclrtMallocHost(void **made, size_t size) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (made == nullptr || size == 0)
        return fail(ACL_ERROR_INVALID_PARAM, made ? "aclrtMallocHost: 0 bytes asked for" : "aclrtMallocHost: no place for the pointer", PITON_CALLER);
    *made = std::aligned_alloc(kHostAlign, (size + kHostAlign - 1) / kHostAlign * kHostAlign);
    if (*made == nullptr) return fail(ACL_ERROR_BAD_ALLOC, "aclrtMallocHost: no room for " + std::to_string(size) + " bytes", PITON_CALLER, "host_memory");
    runtime().host_blocks.insert(*made);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *pointer) {
    const std::lock_guard<std::mutex> hold(runtime().lock);
    if (runtime().host_blocks.erase(pointer) == 0)
        return fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: the pointer is not one of aclrtMallocHost, or was freed before", PITON_CALLER);
    std::free(pointer);
    return ACL_SUCCESS;
}

aclError aclrtMemset(void *to, size_t room, int32_t value, size_t count) { return set_bytes("aclrtMemset", to, room, value, count, PITON_CALLER); }

aclError aclrtMemsetAsync(void *to, size_t room, int32_t value, size_t count, aclrtStream) {
    return set_bytes("aclrtMemsetAsync", to, room, value, count, PITON_CALLER);
}

aclError aclrtMemcpy(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind) {
    return checked_copy("aclrtMemcpy", to, room, from, count, kind, PITON_CALLER);
}

aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t count, aclrtMemcpyKind kind, aclrtStream) {
    return checked_copy("aclrtMemcpyAsync", to, room, from, count, kind, PITON_CALLER);
}

aclError aclrtMemcpy2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, aclrtMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemcpy2d: a row is wider than its pitch", PITON_CALLER);
    for (size_t row = 0; row < height; ++row) {
        auto *target = static_cast<char *>(to) + row * to_pitch;
        const auto *source = static_cast<const char *>(from) + row * from_pitch;
        const aclError code = checked_copy("aclrtMemcpy2d", target, width, source, width, kind, PITON_CALLER);
        if (code != ACL_SUCCESS) return code;
    }
    return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t *free, size_t *total) {
    const void *caller = PITON_CALLER;
    return guarded("aclrtGetMemInfo", caller, [&] {
        if (free == nullptr || total == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: no place for the answer", caller);
        size_t used = 0;
        for (const auto &[address, block] : runtime().device_blocks) used += block.bytes;
        *total = piton_host_platform(PITON_PLATFORM_HBM_BYTES);
        *free = *total - std::min(used, *total);
        return ACL_SUCCESS;
    });
}

size_t aclDataTypeSize(aclDataType type) {
    switch (type) {
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL:
            return 1;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16:
            return 2;
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32:
            return 4;
        case ACL_INT64:
        case ACL_UINT64:
        case ACL_DOUBLE:
            return 8;
        default:
            return 0;
    }
}

float aclFloat16ToFloat(aclFloat16 value) { return vnpu::half_to_float(value); }

aclFloat16 aclFloatToFloat16(float value) { return vnpu::float_to_half(value); }

}  // extern "C"
