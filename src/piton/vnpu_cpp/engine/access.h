/*
 * The checks every operand goes through: inside its tensor and memory, aligned, ordered against what other instructions do to the same bytes.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core.h"

namespace vnpu {

constexpr uint64_t kUbAlign = 32;

// Bytes one instruction reads or writes.
struct Touch {
    uint8_t space;
    bool is_write;
    uint64_t begin, end;
    const uint8_t *data = nullptr;  // GM writes: the bytes about to be stored, to tell an overlap of equal values
    bool is_atomic = false;         // GM writes: does not race with other atomic ones
    bool is_look = false;           // GM reads: another core may store there afterwards (a flag that is read again)
};

// A pipe that the core has: they number arrays of the engine. A barrier alone may name all of them. Cuts the launch if not.
void check_pipe(Core &core, const vnpu_record &record);

// Merged with the last one when they meet.
inline void append_touch(std::vector<Touch> &touches, const Touch &touch) {
    if (touch.begin >= touch.end) return;
    if (!touches.empty()) {
        Touch &last = touches.back();
        const bool same_kind = last.space == touch.space && last.is_write == touch.is_write && last.is_atomic == touch.is_atomic;
        const bool same_data = last.data == nullptr ? touch.data == nullptr : touch.data == last.data + (last.end - last.begin);
        if (same_kind && last.end == touch.begin && same_data) {
            last.end = touch.end;
            return;
        }
    }
    touches.push_back(touch);
}

// Bytes [addr, addr + bytes) of an operand in an on-chip memory: a memory that the core has, 32-byte aligned start (unless told otherwise), within the
// tensor and the memory. Cuts the launch if not.
void check_on_chip(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment = kUbAlign);

// The same for instructions that know the unified buffer only.
void check_ub(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment = kUbAlign);

// The allocation that holds all of [address, address + bytes). Cuts the launch when there is none.
Allocation &check_gm(Core &core, const vnpu_record &record, uint64_t address, uint64_t bytes, bool is_write);

// Number of the instruction on its pipe, after its accesses were ordered (by the compiler's auto-sync where that would) or reported, and remembered.
void order_accesses(Core &core, const vnpu_record &record, const std::vector<Touch> &touches);

// Report undefined bytes of [begin, end) of an on-chip memory that reach `where`.
void report_undefined(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end, const char *where, uint8_t space = VNPU_SPACE_UB);

}  // namespace vnpu
