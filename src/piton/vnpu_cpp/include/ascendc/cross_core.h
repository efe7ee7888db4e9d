/*
 * SyncAll, CrossCoreSetFlag and CrossCoreWaitFlag, IBSet and IBWait, and the calls that let blocks run one after another.
 *
 * Problem: some of these are one instruction, others poll flags that lie in global memory.
 * Approach: flags in global memory are records of their own ("soft" flags): the engine writes the flag, lets other cores run while one waits, and orders what
 * came before the write before what comes after the wait. Where a flag lies is documented for IBSet only; the others use 32 bytes per vector core.
 * Limits: which modes and which SyncAll a launch can have depends on its cores, so that the engine says so when it runs. The workspace in the unified buffer is
 * not touched.
 */
#ifndef PITON_ASCENDC_CROSS_CORE_H
#define PITON_ASCENDC_CROSS_CORE_H

#include "sync.h"
#include "system.h"
#include "tensor.h"

namespace AscendC {

struct SyncAllConfig {
    pipe_t triggerPipe;
    pipe_t waitPipe;
};
constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG = {PIPE_ALL, PIPE_ALL};

}  // namespace AscendC

namespace piton {

enum SoftSet : uint32_t { kSoftStore, kSoftAdd, kSoftReset };
enum SoftWait : uint32_t { kSoftAtLeast, kSoftTake, kSoftFromReset };

constexpr int32_t kFlagWords = 8; /* int32 per flag: 32 bytes */

/* Returns the flag's new value. */
PITON_API int32_t SetSoftFlag(const AscendC::GlobalTensor<int32_t> &flag, SoftSet how, int32_t value, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SOFT_SET, at, how);
    record.pipe = VNPU_PIPE_MTE3;
    record.dst = flag.Operand();
    record.scalar = static_cast<uint32_t>(value);
    return static_cast<int32_t>(Fetch(record));
}

PITON_API void AwaitSoftFlag(const AscendC::GlobalTensor<int32_t> &flag, SoftWait how, int32_t value, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SOFT_WAIT, at, how);
    record.pipe = VNPU_PIPE_MTE2;
    record.src0 = flag.Operand();
    record.scalar = static_cast<uint32_t>(value);
    Submit(record);
}

PITON_API AscendC::GlobalTensor<int32_t> FlagOf(const AscendC::GlobalTensor<int32_t> &workspace, int64_t number) {
    return workspace[static_cast<uint64_t>(number) * kFlagWords];
}

/* Cores of this kind in the launch: each has a flag of its own. */
PITON_API int64_t CoresWithFlag(Location at) { return Ask(VNPU_OP_GET_TASK_RATIO, at) * Ask(VNPU_OP_GET_BLOCK_NUM, at); }

}  // namespace piton

namespace AscendC {

/* Ids of cross-core flags that SyncAll uses, by what they join. */
constexpr uint16_t SYNC_AIC_FLAG = 11;
constexpr uint16_t SYNC_AIV_FLAG = 12;
constexpr uint16_t SYNC_AIC_AIV_FLAG = 13;
constexpr uint16_t SYNC_AIV_ONLY_ALL = 14;

/* All vector cores of the launch meet here, or with `isAIVOnly` false all cores of a mixed launch; waits for every pipe first. On a cube core the former
 * joins the cube cores. */
template <bool isAIVOnly = true>
PITON_API void SyncAll(piton::Location at = piton::Location()) {
    piton::Submit(piton::MakeNote(VNPU_OP_SYNC_ALL, at, isAIVOnly ? 0 : 1));
}

/* Waiting for one pipe only is not modelled: all are waited for. */
template <bool isAIVOnly, const SyncAllConfig &config>
PITON_API void SyncAll(piton::Location at = piton::Location()) {
    static_assert(config.triggerPipe == PIPE_ALL || config.triggerPipe == PIPE_MTE2 || config.triggerPipe == PIPE_MTE3,
                  "SyncAll: PIPE_ALL, PIPE_MTE2 or PIPE_MTE3");
    SyncAll<isAIVOnly>(at);
}

/* By flags in global memory, 32 bytes per vector core; the workspace has to be 0 before. `usedCores` 0: all. Cube cores of a mixed launch go on. */
template <bool isAIVOnly = true>
PITON_API void SyncAll(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace, const int32_t usedCores = 0,
                       piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    piton::RequireRange("SyncAll", 2, usedCores, 0, piton::CoresWithFlag(at), at);
    const int64_t cores = usedCores == 0 ? piton::CoresWithFlag(at) : usedCores;
    const int32_t round = piton::SetSoftFlag(piton::FlagOf(gmWorkspace, GetBlockIdx(at)), piton::kSoftAdd, 1, at);
    for (int64_t core = 0; core < cores; ++core) {
        piton::AwaitSoftFlag(piton::FlagOf(gmWorkspace, core), piton::kSoftAtLeast, round, at);
    }
}

template <uint8_t modeId, pipe_t pipe>
PITON_API void CrossCoreSetFlag(uint16_t flagId, piton::Location at = piton::Location()) {
    static_assert(modeId <= 2, "CrossCoreSetFlag has the modes 0 (all cores of a kind), 1 (vector cores of a block) and 2 (cube core and its vector cores)");
    static_assert(pipe != PIPE_S && pipe != PIPE_ALL, "CrossCoreSetFlag takes PIPE_V, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M or PIPE_FIX");
    vnpu_record record = piton::MakeNote(VNPU_OP_CROSS_SET, at, modeId, piton::ToPipe(pipe), flagId);
    record.pipe = piton::ToPipe(pipe);
    piton::Submit(record);
}

/* Stops every pipe on the Ascend 910B, whatever the parameters. */
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
PITON_API void CrossCoreWaitFlag(uint16_t flagId, piton::Location at = piton::Location()) {
    piton::Submit(piton::MakeNote(VNPU_OP_CROSS_WAIT, at, modeId, 0, flagId));
}

/* Older names: a flag between a cube core and its vector cores, and waiting for it. */
template <pipe_t pipe>
PITON_API void NotifyEvent(uint16_t flagId, piton::Location at = piton::Location()) {
    CrossCoreSetFlag<2, pipe>(flagId, at);
}
PITON_API void WaitEvent(uint16_t flagId, piton::Location at = piton::Location()) { CrossCoreWaitFlag(flagId, at); }

/* Between two kernels that a graph has merged into one; anywhere else these do nothing (documentation pages of both). */
template <pipe_t AIV_PIPE = PIPE_MTE3, pipe_t AIC_PIPE = PIPE_FIX, bool FORCE = false>
PITON_API void SetNextTaskStart() {}
template <bool FORCE = false>
PITON_API void WaitPreTaskEnd() {}

/* Keeps the vendor's compiler from moving code across; here nothing is moved. */
PITON_API void Barrier() {}

/* The flag of block `blockIdx` and event `eventID`; IBWait puts it back to 0. Like what follows, of vector cores alone: cube cores of a mixed launch go on. */
template <bool isAIVOnly = true>
PITON_API void IBSet(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace, int32_t blockIdx, int32_t eventID,
                     piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    piton::RequireRange("IBSet", 2, blockIdx, 0, INT32_MAX, at);
    piton::RequireRange("IBSet", 3, eventID, 0, INT32_MAX, at);
    piton::SetSoftFlag(piton::FlagOf(gmWorkspace, piton::CoresWithFlag(at) * eventID + blockIdx), piton::kSoftStore, 1, at);
}

template <bool isAIVOnly = true>
PITON_API void IBWait(const GlobalTensor<int32_t> &gmWorkspace, const LocalTensor<int32_t> &ubWorkspace, int32_t blockIdx, int32_t eventID,
                      piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    piton::RequireRange("IBWait", 2, blockIdx, 0, INT32_MAX, at);
    piton::RequireRange("IBWait", 3, eventID, 0, INT32_MAX, at);
    piton::AwaitSoftFlag(piton::FlagOf(gmWorkspace, piton::CoresWithFlag(at) * eventID + blockIdx), piton::kSoftTake, 1, at);
}

/* One after another in the order of blocks, once per WaitPreBlock and NotifyNextBlock. */
PITON_API void InitDetermineComputeWorkspace(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace, piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    piton::SetSoftFlag(piton::FlagOf(gmWorkspace, GetBlockIdx(at)), piton::kSoftReset, 0, at);
}

PITON_API void WaitPreBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace, piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    const int64_t block = GetBlockIdx(at), blocks = piton::CoresWithFlag(at);
    const int32_t turn = piton::SetSoftFlag(piton::FlagOf(gmWorkspace, block), piton::kSoftAdd, 0, at); /* how often this block has notified */
    if (block > 0 || turn > 0) {
        const int64_t before = block > 0 ? block - 1 : blocks - 1;
        piton::AwaitSoftFlag(piton::FlagOf(gmWorkspace, before), piton::kSoftFromReset, block > 0 ? turn + 1 : turn, at);
    }
}

PITON_API void NotifyNextBlock(GlobalTensor<int32_t> &gmWorkspace, LocalTensor<int32_t> &ubWorkspace, piton::Location at = piton::Location()) {
    (void)ubWorkspace;
    if (!piton::IsVectorCore(at)) {
        return;
    }
    piton::SetSoftFlag(piton::FlagOf(gmWorkspace, GetBlockIdx(at)), piton::kSoftAdd, 1, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CROSS_CORE_H */
