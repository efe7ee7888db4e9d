/* The functions that device code calls: into the ring instead of into an engine. */
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "blocks.h"
#include "counter.h"
#include "frames.h"
#include "pages.h"
#include "ring.h"

namespace vnpu::code {

using remote::Kind;
using remote::Slot;

const char *library_path = "";  // for the frames of a stack

namespace {

int64_t limit = remote::kScalarSlice;  // blocks until the engine is told
int64_t countdown = remote::kScalarSlice;
uint32_t names = 0;  // told so far
constexpr size_t kCached = 64;
struct Known {
    uint64_t address;
    uint32_t number;
};
Known recent[kCached];

const char *text_at(uint64_t address) { return reinterpret_cast<const char *>(address); }

uint32_t tell_name(uint64_t address) {
    if (names >= remote::kMaxNames) return 0;
    put_text(text_at(address), strnlen(text_at(address), remote::kMaxNameBytes - 1));
    begin_slot(Kind::Name);
    put();
    return ++names;
}

// The number of a file name. Literals of the library stay where they are, so that the address is enough to know one again.
uint32_t number_of(uint64_t address) {
    if (address == 0) return 0;
    Known &slot = recent[address / 8 % kCached];
    if (slot.address == address) return slot.number;
    static std::unordered_map<uint64_t, uint32_t> known;
    const auto found = known.find(address);
    const uint32_t number = found != known.end() ? found->second : tell_name(address);
    known[address] = number;
    slot = {address, number};
    return number;
}

// What the engine must not follow: names become numbers.
void own_numbers(vnpu_record &record) {
    record.file = number_of(record.file);
    if (!remote::names_files(record)) return;
    record.mask[0] = number_of(record.mask[0]);
    record.mask[1] = number_of(record.mask[1]);
}

// The text that a record refers to, ahead of it; false where it has none.
bool send_text_of(const vnpu_record &record) {
    if (record.opcode == VNPU_OP_PRINT) return put_text(text_at(record.src0.addr), std::min<uint64_t>(record.p[0], remote::kMaxTextBytes)), true;
    if (record.opcode != VNPU_OP_FAULT || record.src0.addr == 0) return false;
    return put_text(text_at(record.src0.addr), strnlen(text_at(record.src0.addr), remote::kMaxNameBytes)), true;
}

// Instructions in which a core may have to wait for others, and those that may never return: the code must not run ahead of them.
bool may_wait(uint16_t opcode) {
    switch (opcode) {
        case VNPU_OP_SYNC_ALL:
        case VNPU_OP_CROSS_SET:
        case VNPU_OP_CROSS_WAIT:
        case VNPU_OP_SOFT_SET:
        case VNPU_OP_SOFT_WAIT:
        case VNPU_OP_FAULT:
        case VNPU_OP_TASK_TYPE:
            return true;
        default:
            return false;
    }
}

void put_record(Kind kind, const vnpu_record &record) {
    forget_pages();
    vnpu_record own = record;
    own_numbers(own);
    const bool has_text = send_text_of(record);
    Slot &slot = begin_slot(kind);
    std::memcpy(slot.payload, &own, sizeof own);
    slot.has_text = has_text;
    put();
}

// A slice of scalar code, or the budget, is used up: the engine decides what follows.
void tell_scalar_code() {
    Frames frames = {};
    for (const uint64_t call : calls_on_stack()) frames::keep(frames, library_path, call);
    Slot &slot = begin_slot(Kind::Scalar);
    std::memcpy(slot.payload, &frames, sizeof frames);
    put();
    await_answer();
}

}  // namespace

uint64_t counted_blocks() {
    const int64_t blocks = limit - countdown;
    countdown = limit = remote::kScalarSlice;
    return static_cast<uint64_t>(std::max<int64_t>(blocks, 0));
}

void count_from(int64_t budget_left) { countdown = limit = std::min(budget_left, remote::kScalarSlice); }

}  // namespace vnpu::code

extern "C" void vnpu_submit(const vnpu_record *record) {
    using namespace vnpu::code;
    if (!is_in_kernel()) return;  // a static object of the device library made an API call while it was loaded: there is no core to run it
    if (!may_wait(record->opcode)) return put_record(Kind::Submit, *record);
    put_record(Kind::Wait, *record);
    if (record->opcode == VNPU_OP_TASK_TYPE) return await_start_or_answer();
    await_answer();
}

extern "C" uint64_t vnpu_fetch(const vnpu_record *record) {
    using namespace vnpu::code;
    if (!is_in_kernel()) return 0;
    put_record(Kind::Fetch, *record);
    return await_answer();
}

// Called by the compiler's coverage instrumentation at every basic block of device code.
extern "C" void __sanitizer_cov_trace_pc() {
    if (--vnpu::code::countdown < 0 && vnpu::code::is_in_kernel()) vnpu::code::tell_scalar_code();
}
