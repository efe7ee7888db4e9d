/*
 * The trace: what execution hands to the replay that turns it into time.
 *
 * Problem: shared HBM, L2, imbalance and cross-core synchronisation need time order across cores, while execution runs cores one after another.
 * Approach: execution appends one compact entry per instruction and per synchronisation (the compiler's auto-sync included) to its core's list; the replay
 * walks all lists in time order, in integer cycles. Costs are decided when the entry is made (`timing/cost.h`); contention is decided in the replay.
 * Limits: control flow is fixed by execution; time never feeds back into data (GetSystemCycle answers from a running estimate).
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vnpu/abi.h"

namespace vnpu {

enum class TraceKind : uint8_t {
    Work,      // occupies `pipe` for `cycles`
    GmRead,    // GM -> on-chip copy on `pipe`: set-up, then `bytes` through L2/HBM
    GmWrite,   // on-chip -> GM copy on `pipe`
    SetFlag,   // event (src_pipe, dst_pipe, event) becomes ready when earlier work of src_pipe is complete
    WaitFlag,  // dst_pipe stalls until the matching set (n-th wait pairs with n-th set); S stalls issue
    Barrier,   // later work of `pipe` starts after earlier work of `pipe` is complete (VNPU_PIPE_ALL: all pipes, S included)
    SyncAll,   // all cores of the launch (event 2) or those of one kind (event 0 vector, 1 cube cores)
    CrossSet,
    CrossWait,
};

struct TraceEntry {
    TraceKind kind = TraceKind::Work;
    uint8_t pipe = 0;
    uint8_t src_pipe = 0;
    uint8_t dst_pipe = 0;
    union {
        uint8_t event = 0;
        uint8_t l0c_per_byte;  // FIX: bytes of L0C per byte written
    };
    uint8_t flags = 0;          // kTraceAutoSync, kTraceL2Bypass
    uint16_t opcode = 0;        // enum vnpu_opcode, for the timeline
    uint32_t cycles = 0;        // Work: cycles on the pipe; copies: set-up cycles
    uint32_t issue_cycles = 1;  // cycles of S to issue it
    union {
        uint32_t blocks = 0;  // copies: block count
        uint32_t repeats;     // V: repeats of 256 bytes
    };
    union {
        uint32_t block_bytes = 0;  // copies: bytes per block
        uint32_t conflict_cycles;  // V: the part of `cycles` that bank conflicts cost
        uint32_t cross_mode;       // CrossSet by id: whom it is for (cross_core.h)
    };
    uint32_t gm_gap = 0;  // copies: GM gap in bytes from the end of a block to the start of the next
    uint32_t line = 0;
    uint32_t code_cycles = 0;  // of S before it, for the kernel's own code since the entry before
    uint64_t gm_addr = 0;      // copies: first GM byte
};

constexpr uint8_t kTraceAutoSync = 1;  // inserted by the (modelled) compiler, not written by the user
constexpr uint8_t kTraceL2Bypass = 2;
constexpr uint8_t kTraceSoftFlag = 4;  // CrossSet and CrossWait of one flag in global memory; `blocks` is the number of the set, from 1
constexpr uint8_t kTraceToL1 = 4;      // a load into L1 of a cube core

using CoreTrace = std::vector<TraceEntry>;

struct LaunchTrace {
    uint32_t core_kind = VNPU_CORE_AIV;
    std::vector<CoreTrace> cores;  // in the order of Groups: of a mixed launch several per block
};

// Why a pipe did nothing. The first VNPU_PIPE_COUNT values: for a flag that the pipe of that number sets.
enum WaitReason : uint8_t {
    kWaitBarrier = VNPU_PIPE_COUNT,  // S: PIPE_ALL, and the core's own pipes before a SyncAll
    kWaitQueue,                      // S: the queue of a pipe was full
    kWaitSyncAll,
    kWaitCrossFlag,
    kWaitEnd,     // S: the program is over, pipes still work
    kWaitIdle,    // nothing was issued to it; flags and barriers take one cycle each, too
    kWaitLaunch,  // its block had not started
    kWaitTail,    // its last block had ended, others had not
    kWaitReasons
};

// What made a pipe busy for longer than its instructions need by themselves.
enum LossReason : uint8_t {
    kLossShare,     // transfers: HBM or L2 shared with other transfers
    kLossBlocks,    // transfers: the least time per block is longer than its bytes take
    kLossLatency,   // transfers: the last byte is on its way and the pipe starts nothing else
    kLossConflict,  // V: bank conflicts
    kLossMiss,      // S: misses of the data cache
    kLossCode,      // S: the kernel's own code between its calls
    kLossReasons
};

// What the pipes of some cores did, summed over these.
struct PipeTiming {
    uint64_t busy[VNPU_PIPE_COUNT] = {};                // summed over cores
    uint64_t stall[VNPU_PIPE_COUNT] = {};               // the waits before kWaitIdle together
    uint64_t wait[VNPU_PIPE_COUNT][kWaitReasons] = {};  // of each pipe: busy + all waits = cores * cycles
    uint64_t lost[VNPU_PIPE_COUNT][kLossReasons] = {};  // parts of busy
    uint32_t cores = 0;                                 // that took part
};

// What the replay says about one launch, its pipes over all cores. All figures in core clock cycles unless named otherwise.
struct LaunchTiming : PipeTiming {
    uint64_t cycles = 0;         // launch overhead and all waves
    uint64_t kernel_cycles = 0;  // without the launch overhead
    PipeTiming cube;             // of a mixed launch: the part of its cube cores
    uint64_t gm_read_bytes = 0;
    uint64_t gm_written_bytes = 0;
    uint64_t hbm_bytes = 0;  // HBM traffic, write-backs included
    uint64_t l2_bytes = 0;   // that L2 served: hits of loads, and stores that stay in it
};

}  // namespace vnpu
