/*
 * Fill, InitGlobalMemory, InitOutput: one value into global memory.
 *
 * Problem: on the chip these are a Duplicate into local memory and copies out of it, which the caller has to synchronise with what follows.
 * Approach: the same, in the memory that TPipe has not given out: its caller needs MTE3_MTE2 before it loads there, MTE3_V before it computes there
 * (documentation page of Fill), and finds it reported where these are missing. A cube core does the same with L1: its page says nothing of them, public kernels
 * of cube cores call Fill.
 * Limits: a TPipe has to exist. Types as documented for the Ascend 910B, and bfloat16_t, which is not listed but which public
 * operators for it fill with (grouped_bias_add_grad of ops-math).
 */
#ifndef PITON_ASCENDC_FILL_H
#define PITON_ASCENDC_FILL_H

#include <string>

#include "copy.h"
#include "cube_fill.h"
#include "duplicate.h"
#include "gather.h"
#include "pipe.h"
#include "print.h"

namespace piton {

constexpr uint32_t kFillBytes = 65536; /* of local memory at most: large enough for full bandwidth, small enough to be quick to fill */

template <typename T>
constexpr bool kIsFilled = kIsOneOf<T, uint16_t, int16_t, half, bfloat16_t, uint32_t, int32_t, float>;

/* On a cube core, in whole blocks of 32 bytes, which is what L1 is copied in. */
template <typename T>
PITON_API void FillFromL1(const char *api, const AscendC::GlobalTensor<T> &target, uint64_t size, const T value, Location at) {
    const auto memory = AscendC::GetTPipePtr(at)->UnusedMemory(at, AscendC::TPosition::A1);
    const uint32_t bytes = (memory.GetSize() < kFillBytes ? memory.GetSize() : kFillBytes) / kBlockBytes * kBlockBytes;
    const uint64_t all = size * sizeof(T);
    if (bytes == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, kBlockBytes, memory.GetSize(), VNPU_SPACE_L1);
    }
    if (all % kBlockBytes != 0) {
        FailAssertion((std::string(api) + " of " + std::to_string(all) + " bytes on a cube core: whole blocks of 32 bytes are possible there").c_str(), at);
    }
    const auto source = memory.template ReinterpretCast<T>();
    const uint32_t first = static_cast<uint32_t>(all < bytes ? all : bytes);
    AscendC::Fill(source, AscendC::InitConstValueParams<T>(1, first / kBlockBytes, 0, value), at);
    SubmitFlag(VNPU_OP_SET_FLAG, {VNPU_PIPE_MTE2, VNPU_PIPE_MTE3}, kFrameworkEvent, VNPU_F_QUEUE, at);
    SubmitFlag(VNPU_OP_WAIT_FLAG, {VNPU_PIPE_MTE2, VNPU_PIPE_MTE3}, kFrameworkEvent, VNPU_F_QUEUE, at);
    for (uint64_t done = 0; done < all; done += bytes) {
        const uint32_t part = static_cast<uint32_t>(all - done < bytes ? all - done : bytes);
        SubmitCopy(target[done / sizeof(T)].Operand(), source.Operand(), {1, part, 0, 0}, target.CopyFlags(), at);
    }
}

template <typename T>
PITON_API void FillMemory(const char *api, const AscendC::GlobalTensor<T> &target, uint64_t size, const T value, Location at) {
    const auto memory = AscendC::GetTPipePtr(at)->UnusedMemory(at);
    const uint32_t bytes = memory.GetSize() < kFillBytes ? memory.GetSize() : kFillBytes;
    const uint64_t room = bytes / kBlockBytes * kBlockBytes / sizeof(T);
    if (room == 0) {
        Fault(VNPU_FAULT_UB_OVERFLOW, api, at, kBlockBytes, memory.GetSize());
    }
    const auto source = memory.template ReinterpretCast<T>();
    AscendC::Duplicate(source, value, static_cast<int32_t>(size < room ? size : room), at);
    SubmitFlag(VNPU_OP_SET_FLAG, {VNPU_PIPE_V, VNPU_PIPE_MTE3}, kFrameworkEvent, VNPU_F_QUEUE, at);
    SubmitFlag(VNPU_OP_WAIT_FLAG, {VNPU_PIPE_V, VNPU_PIPE_MTE3}, kFrameworkEvent, VNPU_F_QUEUE, at);
    for (uint64_t done = 0; done < size; done += room) {
        const uint64_t part = size - done < room ? size - done : room;
        SubmitPadOut(target[done], source, 1, static_cast<uint32_t>(part * sizeof(T)), 0, 0, at);
    }
}

}  // namespace piton

#define PITON_FILL(Name, Size, fallback)                                                                                                                   \
    namespace AscendC {                                                                                                                                    \
    template <typename T>                                                                                                                                  \
    PITON_API void Name(const GlobalTensor<T> &gmWorkspaceAddr, const Size size, const T value fallback, piton::Location at = piton::Location()) {         \
        using piton::kDtype;                                                                                                                               \
        PITON_REQUIRE_TYPE(#Name, piton::kIsFilled<T>, "uint16_t, int16_t, half, bfloat16_t, uint32_t, int32_t, float");                                   \
        piton::IsVectorCore(at) ? piton::FillMemory(#Name, gmWorkspaceAddr, size, value, at) : piton::FillFromL1(#Name, gmWorkspaceAddr, size, value, at); \
    }                                                                                                                                                      \
    }

#define PITON_NO_DEFAULT
#define PITON_ZERO = T()
PITON_FILL(Fill, uint64_t, PITON_NO_DEFAULT)
PITON_FILL(InitGlobalMemory, uint64_t, PITON_NO_DEFAULT)
PITON_FILL(InitOutput, uint32_t, PITON_ZERO)
#undef PITON_ZERO
#undef PITON_NO_DEFAULT
#undef PITON_FILL

#endif /* PITON_ASCENDC_FILL_H */
