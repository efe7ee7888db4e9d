/*
 * GroupBarrier: vector cores that wait until others have arrived, through flags in global memory.
 *
 * Problem: a group of cores goes on when all of another group have come to a place, once or in a loop.
 * Approach: who arrives counts up its own 32 bytes of the workspace; who waits looks at those of all, as the SyncAll in software does. The workspace has to be
 * 0 before the launch.
 * Limits: where the flags lie is not documented and differs (512 bytes for each waiting core are asked for); one message for all that wait is timed, not one
 * for each.
 */
#ifndef PITON_ASCENDC_GROUP_BARRIER_H
#define PITON_ASCENDC_GROUP_BARRIER_H

#include "cross_core.h"

namespace AscendC {

enum class PipeMode : uint8_t { SCALAR_MODE = 0, MTE3_MODE = 1, MAX };

template <PipeMode pipeMode>
class GroupBarrier {
    static_assert(pipeMode == PipeMode::MTE3_MODE, "GroupBarrier: PipeMode::MTE3_MODE only");

public:
    /* `groupWorkspace`: 512 bytes for each core that waits, at a multiple of 512. */
    PITON_API GroupBarrier(GM_ADDR groupWorkspace, uint32_t arriveSizeIn, uint32_t waitSizeIn, piton::Location at = piton::Location())
        : arrive_(arriveSizeIn), wait_(waitSizeIn) {
        piton::RequireRange("GroupBarrier", 0, reinterpret_cast<uint64_t>(groupWorkspace) % kShare, 0, 0, at);
        piton::RequireRange("GroupBarrier", 2, wait_, 1, INT32_MAX / kShare, at);
        piton::RequireRange("GroupBarrier", 1, arrive_, 1, int64_t(wait_) * (kShare / kFlagBytes), at);
        flags_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(groupWorkspace), GetWorkspaceLen() / sizeof(int32_t));
    }

    PITON_API void Arrive(uint32_t arriveIndex, piton::Location at = piton::Location()) {
        piton::RequireRange("GroupBarrier::Arrive", 0, arriveIndex, 0, int64_t(arrive_) - 1, at);
        piton::SetSoftFlag(piton::FlagOf(flags_, arriveIndex), piton::kSoftAdd, 1, at);
    }
    PITON_API void Wait(uint32_t waitIndex, piton::Location at = piton::Location()) {
        piton::RequireRange("GroupBarrier::Wait", 0, waitIndex, 0, int64_t(wait_) - 1, at);
        ++rounds_;
        for (uint32_t core = 0; core < arrive_; ++core) {
            piton::AwaitSoftFlag(piton::FlagOf(flags_, core), piton::kSoftAtLeast, rounds_, at);
        }
    }
    /* In bytes. */
    PITON_API uint64_t GetWorkspaceLen() const { return uint64_t(wait_) * kShare; }

private:
    static constexpr uint32_t kShare = 512, kFlagBytes = 32;

    GlobalTensor<int32_t> flags_;
    uint32_t arrive_, wait_;
    int32_t rounds_ = 0;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_GROUP_BARRIER_H */
