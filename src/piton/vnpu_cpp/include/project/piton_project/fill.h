/*
 * The kernel that gives an output its initial value (InitValue in the OpDef).
 *
 * Problem: the vendor's framework clears such an output by a launch of its own before the kernel, which may then add to it.
 * Approach: the same, so that it costs as one and its stores are those of a kernel. A tile of the pattern is made once per core and stored over and over.
 * Limits: patterns of 32 bits.
 */
#ifndef PITON_PROJECT_FILL_H
#define PITON_PROJECT_FILL_H

#include "addresses.h"
#include "kernel_operator.h"

namespace piton_project {

constexpr uint64_t kFillTile = 32768; /* bytes; the host launches no more cores than there are tiles */

inline __global__ __aicore__ void InitialValue(uint64_t bytes, uint64_t pattern, Addresses<1> to) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, kFillTile);
    AscendC::Duplicate(buffer.Get<uint32_t>(), static_cast<uint32_t>(pattern), kFillTile / sizeof(uint32_t));
    AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
    AscendC::GlobalTensor<uint8_t> output;
    output.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t *>(to.at[0]));
    for (uint64_t at = AscendC::GetBlockIdx() * kFillTile; at < bytes; at += AscendC::GetBlockNum() * kFillTile) {
        const uint32_t count = static_cast<uint32_t>(bytes - at < kFillTile ? bytes - at : kFillTile);
        AscendC::DataCopyPad(output[at], buffer.Get<uint8_t>(), AscendC::DataCopyExtParams(1, count, 0, 0, 0));
    }
}

}  // namespace piton_project

#endif /* PITON_PROJECT_FILL_H */
