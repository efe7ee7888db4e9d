/*
 * Questions about the running core, and the state a kernel starts from.
 *
 * Problem and approach: each is one record; the answers come from the engine, so that they are those of the simulated launch.
 * Limits: GetSystemCycle is an estimate while execution runs in program order.
 */
#ifndef PITON_ASCENDC_SYSTEM_H
#define PITON_ASCENDC_SYSTEM_H

#include "record.h"
#include "sync.h"

namespace piton {

PITON_API int64_t Ask(uint16_t question, Location at) { return static_cast<int64_t>(Fetch(MakeNote(question, at))); }

PITON_API bool IsVectorCore(Location at = Location()) { return Ask(VNPU_OP_GET_CORE_KIND, at) == VNPU_CORE_AIV; }

PITON_API constexpr uint32_t CoreKindOf(KernelMetaType type) {
    switch (type) {
        case KERNEL_TYPE_AIC_ONLY:
        case KERNEL_TYPE_MIX_AIC_1_0:
            return VNPU_CORE_AIC;
        case KERNEL_TYPE_MIX_AIC_1_1:
            return VNPU_CORE_MIX_1_1;
        case KERNEL_TYPE_MIX_AIC_1_2:
            return VNPU_CORE_MIX_1_2;
        default:
            return VNPU_CORE_AIV;
    }
}

PITON_API void SubmitTaskType(KernelMetaType type, vnpu_type_rank rank = VNPU_TYPE_DEFAULT, Location at = Location()) {
    const bool isOnly = type == KERNEL_TYPE_AIV_ONLY || type == KERNEL_TYPE_AIC_ONLY;
    Submit(MakeNote(VNPU_OP_TASK_TYPE, at, CoreKindOf(type), rank, isOnly));
}

}  // namespace piton

namespace AscendC {

PITON_API int64_t GetBlockIdx(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_BLOCK_IDX, at); }

PITON_API int64_t GetBlockNum(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_BLOCK_NUM, at); }

PITON_API int64_t GetSubBlockIdx(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at); }

PITON_API int64_t GetTaskRatio(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_TASK_RATIO, at); }

PITON_API int64_t GetTaskRation(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_TASK_RATIO, at); }

/* Cores of the caller's kind in a block. */
PITON_API int64_t GetSubBlockNum(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_TASK_RATIO, at); }

/* Ends the launch, as a failed assertion does. */
[[noreturn]] PITON_API void Trap(piton::Location at = piton::Location()) { piton::Fault(VNPU_FAULT_ASSERTION, "Trap()", at); }

/* Ticks of the 50 MHz counter. */
PITON_API int64_t GetSystemCycle(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_SYSTEM_CYCLE, at); }

/* For kernels without TPipe: atomics off, normal mode, full mask. */
PITON_API void InitSocState(piton::Location at = piton::Location()) {
    piton::Submit(piton::MakeNote(VNPU_OP_SET_ATOMIC, at, 0));
    SetMaskNorm(at);
    ResetMask(at);
}

}  // namespace AscendC

/* The compiler's own names. */
PITON_API int64_t get_block_idx(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_BLOCK_IDX, at); }

PITON_API int64_t get_block_num(piton::Location at = piton::Location()) { return piton::Ask(VNPU_OP_GET_BLOCK_NUM, at); }

namespace piton {

/* The variables of the device compiler; objects and not macros, since kernels have variables of these names. */
struct BlockIndex {
    PITON_API operator int64_t() const { return get_block_idx(); }
};

struct BlockCount {
    PITON_API operator int64_t() const { return get_block_num(); }
};

}  // namespace piton

inline constexpr piton::BlockIndex block_idx{};
inline constexpr piton::BlockCount block_num{};

/* The compiler's hints, as functions: macros of these names would reach into other headers. */
#ifndef PITON_HAS_LIKELY
#define PITON_HAS_LIKELY
PITON_API constexpr bool likely(bool condition) { return condition; }
PITON_API constexpr bool unlikely(bool condition) { return condition; }
#endif

namespace AscendC {

/* Which kind of core runs, as older kernels ask for it. */
const int32_t AIC = 1;
const int32_t AIV = 2;

#if defined(PITON_CUBE_PASS)
inline constexpr int32_t g_coreType = AIC;
#elif defined(PITON_VECTOR_PASS)
inline constexpr int32_t g_coreType = AIV;
#elif defined(PITON_BY_CORE)
inline constexpr int32_t g_coreType = 0; /* the host: neither */
#endif

}  // namespace AscendC

#if !defined(PITON_BY_CORE)
namespace piton {

struct CoreType {
    PITON_API operator int32_t() const { return IsVectorCore() ? AscendC::AIV : AscendC::AIC; }
};

}  // namespace piton

namespace AscendC {

inline constexpr piton::CoreType g_coreType{};

}  // namespace AscendC
#endif

#endif /* PITON_ASCENDC_SYSTEM_H */
