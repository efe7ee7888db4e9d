/*
 * Messages between the parent, the host process and the device process.
 *
 * Problem: three processes that do not trust each other exchange small requests; a malformed one must never be more than an error.
 * Approach: frames of a fixed little-endian header and a body; every read of a body checks what is left. piton.targets.vnpu.wire is the same in Python.
 * Limits: both ends run on one machine, so integers have its width and byte order (little-endian is checked when compiling).
 */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <unistd.h>

namespace vnpu::wire {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire format is that of the machine");

constexpr uint32_t kVersion = 5;
constexpr uint32_t kMaxBody = 1u << 26;  // a copy allowance is some KiB; a log of many launches some MiB

enum class Type : uint32_t {
    // parent -> device
    Configure = 1,  // u8 auto_sync, u8 timing_only, u8 is_pessimistic, u64 budget_cycles, u64 memory_limit_bytes, text chip table (only the first one counts)
    BeginCase = 2,  // forget every allocation; the second-level cache is cold
    Allocate = 3,   // u64 bytes, u8 is_mutable, u8 is_defined -> u64 address (0: no room)
    BeginCall = 4,  // u64 copy allowance in bytes, u8 launches_do_nothing, u8 repeats_answers, u8 poison (device/call_options.h)
    EndCall = 5,    // -> text (JSON log)
    Describe = 6,   // u64 address, u64 bytes -> u8 is_live, u64 allocation address, u64 allocation bytes, u8 is_host, u8 is_mutable, u64 first undefined, u64
                    // first unstored
    Record = 7,     // u8 is_on, u32 instructions to keep of a launch, u32 count, u32 blocks[]: timelines of the launches of later calls
    Timeline = 8,   // u32 number of a recorded launch of the call that ended last -> u8 is_there, its timeline (device/timeline_frame.h)
    // host -> device
    HostAllocate = 32,    // u64 bytes -> u64 address, u64 generation
    HostFree = 33,        // u64 address, u64 generation; no answer
    HostLaunch = 34,      // text kernel, u32 blocks, text arguments
    HostCopyIn = 35,      // u64 address, text bytes
    HostCopyOut = 36,     // u64 address, u64 bytes -> text bytes
    HostCopyDevice = 37,  // u64 destination, u64 source, u64 bytes
    HostNotice = 38,      // text cause, text message, u64 offset in the submission's library (0: unknown): the host library refused something; answered, so
                          // that it is in the log before the call can end
    HostClock = 39,       // -> u64 cycles of the launches and device copies of this call
    // device -> parent, host
    Ready = 64,    // u32 version: the process is up
    Answer = 65,   // body as the request says
    Refused = 66,  // text: why
    // device -> parent, from a signal handler just before the process ends
    Died = 96,  // i32 signal, u64 fault address, u8 what it was (0 anything, 1 a raw store, 2 a full stack), text kernel
};

struct Header {
    uint32_t type;
    uint32_t bytes;
};

struct Frame {
    Type type = Type::Answer;
    std::string body;
};

class Writer {
public:
    template <typename T>
    Writer &put(T value) {
        static_assert(std::is_trivially_copyable_v<T>, "plain numbers only");
        body_.append(reinterpret_cast<const char *>(&value), sizeof value);
        return *this;
    }
    Writer &text(const std::string &value) { return put(static_cast<uint32_t>(value.size())).raw(value); }
    const std::string &body() const { return body_; }

private:
    Writer &raw(const std::string &value) {
        body_.append(value);
        return *this;
    }
    std::string body_;
};

// Reads a body front to back; throws std::runtime_error when it is too short or, from done(), too long.
class Reader {
public:
    explicit Reader(const std::string &body) : body_(body) {}
    template <typename T>
    T get() {
        T value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    std::string text() {
        const uint32_t size = get<uint32_t>();
        return std::string(take(size), size);
    }
    void done() const {
        if (at_ != body_.size()) throw std::runtime_error("message too long");
    }

private:
    const char *take(size_t bytes) {
        if (bytes > body_.size() - at_) throw std::runtime_error("message too short");
        const char *start = body_.data() + at_;
        at_ += bytes;
        return start;
    }
    const std::string &body_;
    size_t at_ = 0;
};

// False at the end of the stream or on an error.
inline bool read_all(int fd, void *data, size_t bytes) {
    auto *at = static_cast<char *>(data);
    while (bytes > 0) {
        const ssize_t got = ::read(fd, at, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<size_t>(got);
    }
    return true;
}

inline bool write_all(int fd, const void *data, size_t bytes) {
    auto *at = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t put = ::write(fd, at, bytes);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        bytes -= static_cast<size_t>(put);
    }
    return true;
}

// False at the end of the stream, and for a length out of bounds: whoever sends such a thing is not listened to any more.
inline bool receive(int fd, Frame &frame) {
    Header header;
    if (!read_all(fd, &header, sizeof header) || header.bytes > kMaxBody) return false;
    frame.type = static_cast<Type>(header.type);
    frame.body.resize(header.bytes);
    return read_all(fd, frame.body.data(), frame.body.size());
}

inline bool send(int fd, Type type, const std::string &body) {
    std::string bytes;
    const Header header{static_cast<uint32_t>(type), static_cast<uint32_t>(body.size())};
    bytes.append(reinterpret_cast<const char *>(&header), sizeof header).append(body);
    return write_all(fd, bytes.data(), bytes.size());
}

}  // namespace vnpu::wire
