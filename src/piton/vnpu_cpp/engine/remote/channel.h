/*
 * The memory that the engine shares with a process that runs device code: a ring of records one way, one answer at a time the other.
 *
 * Problem: device code in a process of its own issues about a million records per second; a system call for each would cost more than its execution.
 * Approach: the device side puts slots into a ring and publishes `head`; the engine takes them and publishes `tail`. Who finds nothing to do looks for a while,
 * then sleeps on a futex until the other side wakes it. What needs an answer (values, a page of global memory, leave to go on) waits for `command`, which also
 * says which core goes on. Texts travel in slots ahead of the slot that uses them.
 * Limits: one writer and one reader of each field. The engine takes nothing here for granted: it keeps its own `tail` and serial, copies a slot before it looks
 * at it, and bounds what it copies; what the device side does to this memory harms its own launch only.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <type_traits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vnpu/abi.h"

namespace vnpu::remote {

constexpr uint32_t kSlots = 1024;             // a power of two; enough for a few microseconds of records while the other side is busy
constexpr uint32_t kPayloadBytes = 136;       // a record, or the frames of a stack (frames.h)
constexpr uint32_t kMaxTextBytes = 1 << 20;   // what a launch may print (print.cpp)
constexpr uint32_t kMaxNameBytes = 4096;      // of a file's or an API's name
constexpr uint32_t kMaxNames = 1 << 14;       // file names that one library uses
constexpr uint32_t kMaxKernels = 1 << 14;     // of one library
constexpr uint32_t kArgumentBytes = 4096;     // of a launch; the server refuses longer ones
constexpr uint32_t kPageBytes = 1 << 16;      // the largest page of a host
constexpr uint32_t kRingBytes = 1 << 19;      // of the whole; piton.targets.vnpu.code_process.RING_BYTES
constexpr int64_t kScalarSlice = 1 << 20;     // basic blocks of scalar code after which the engine is told
constexpr uint32_t kLooks = 4000;             // at the other side's progress before sleeping: about 20 us, longer than most single steps take
constexpr long kNapNanoseconds = 50'000'000;  // of a sleep, after which the other side's life is looked at

enum class Kind : uint32_t {
    Submit = 1,       // payload: a record without an answer
    Wait = 2,         // a record that may have to wait for other cores: the answer is leave to go on
    Fetch = 3,        // a record with an answer
    Scalar = 4,       // so many basic blocks without a record; payload: Frames; the answer tells what is left of the budget
    Text = 5,         // payload: the next `bytes` bytes of a text
    Name = 6,         // the text so far is the next file name: records give its number
    Page = 7,         // `value`: address; the answer is the page of global memory in `page`
    End = 8,          // the block has ended
    Threw = 9,        // it has ended by an exception: with a text when it was a std::exception
    Kernel = 10,      // the text is name, 0, title; payload: Declaration
    Loaded = 11,      // every kernel has been told
    LoadFailed = 12,  // the text says why
    Cleaned = 13,     // static data is as it was loaded; `value`: bytes that were not
};

struct Declaration {
    uint32_t abi_version;
    uint32_t core_kind;
    uint32_t argument_bytes;
    uint32_t is_compiled_by_core;  // once for each kind of core
    uint32_t local_bytes;          // of variables that every core has for itself
};

struct alignas(64) Slot {
    Kind kind;
    uint32_t core;
    uint64_t blocks;  // basic blocks of scalar code since the slot before
    uint64_t value;
    uint32_t bytes;  // of a text
    uint32_t has_text;
    uint8_t payload[kPayloadBytes];
};

enum class Order : uint32_t { Load = 1, Start = 2, Continue = 3, Clean = 4 };

// To the device side. `serial` is written last.
struct Command {
    std::atomic<uint32_t> serial;
    Order order;
    uint32_t core;
    uint32_t kernel;  // by the order of their declaration
    uint64_t value;
    int64_t budget_left;
};

struct Channel {
    alignas(64) std::atomic<uint32_t> head;
    std::atomic<uint32_t> is_device_asleep;
    alignas(64) std::atomic<uint32_t> tail;
    std::atomic<uint32_t> is_engine_asleep;
    alignas(64) Command command;
    alignas(64) uint8_t arguments[kArgumentBytes];
    alignas(64) uint8_t page[kPageBytes];
    Slot slots[kSlots];
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "a lock inside shared memory would be in the hands of device code");
static_assert(std::is_standard_layout_v<Slot>, "both sides see the same layout");
static_assert(sizeof(vnpu_record) <= kPayloadBytes, "a record fits into a slot");
static_assert(sizeof(Channel) <= kRingBytes, "the shared memory holds it");

// Faults whose mask holds the address of a file name (abi.h: enum vnpu_strange_tensor).
inline bool names_files(const vnpu_record &record) {
    if (record.opcode != VNPU_OP_FAULT) return false;
    const uint32_t fault = record.p[0];
    return (fault >= VNPU_FAULT_QUEUE_EMPTY && fault <= VNPU_FAULT_FOREIGN_TENSOR);
}

// Until the word differs from `seen`, or for a nap.
inline void sleep_on(std::atomic<uint32_t> &word, uint32_t seen) {
    const timespec nap = {0, kNapNanoseconds};
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT, seen, &nap, nullptr, 0);
}

inline void wake(std::atomic<uint32_t> &word) { syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0); }

// Publish `value`, and wake the other side if it sleeps on it. Both orders are total, so that either it sees the value or we see that it sleeps.
inline void publish(std::atomic<uint32_t> &word, uint32_t value, std::atomic<uint32_t> &is_other_asleep) {
    word.store(value, std::memory_order_seq_cst);
    if (is_other_asleep.load(std::memory_order_seq_cst) != 0) wake(word);
}

inline void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

// The word once it differs from `seen`; `seen` after a nap without a change.
inline uint32_t changed(std::atomic<uint32_t> &word, uint32_t seen, std::atomic<uint32_t> &is_asleep, uint32_t looks) {
    for (uint32_t look = 0; look < looks; ++look) {
        const uint32_t now = word.load(std::memory_order_acquire);
        if (now != seen) return now;
        pause();
    }
    is_asleep.store(1, std::memory_order_seq_cst);
    uint32_t now = word.load(std::memory_order_seq_cst);
    if (now == seen) sleep_on(word, seen);
    is_asleep.store(0, std::memory_order_seq_cst);
    now = word.load(std::memory_order_acquire);
    return now;
}

}  // namespace vnpu::remote
