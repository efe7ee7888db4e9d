/*
 * Keywords of the device language, as macros that let an ordinary C++ compiler read a kernel.
 *
 * Problem: `__aicore__`, `__gm__` and friends are extensions of the vendor's compiler.
 * Approach: those that only place code or data expand to nothing, since one pass compiles device code only and on-chip memory is never dereferenced.
 * `__cube__` and `__mix__` become qualifiers of the return type, which change nothing about a call and can be read off the kernel's type where it is
 * registered.
 * Limits: a kernel for one kind of core and one with the scheduler that flags between cores need are the same here.
 */
#ifndef PITON_ASCENDC_MACROS_H
#define PITON_ASCENDC_MACROS_H

#include <cstdint>

#define __aicore__
#define __global__
#define __host_aicore__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __tiling_data_ptr__
#define __kfc_workspace__
#define __vector__

/*
 * A variable that every core has for itself: the engine swaps these with the cores (engine/block_locals.h). `[[block_local]]` becomes this macro in the sources
 * (rewrite.py), since an ordinary name must not be a macro. `used` keeps the compiler from taking an inline variable out of its section where one object is
 * compiled as a whole. A section per variable: see vnpu/block_local.ld.
 */
#define PITON_TEXT(text) #text
#define PITON_LOCAL_SECTION(number) "piton_block_local." PITON_TEXT(number)
#if defined(PITON_HOST_PASS)
#define __BLOCK_LOCAL__
#else
#define __BLOCK_LOCAL__ __attribute__((used, section(PITON_LOCAL_SECTION(__COUNTER__))))
#endif
#pragma GCC diagnostic ignored "-Wignored-qualifiers" /* that is the point of the next lines */
#define __cube__ const
/* __mix__(cube cores, vector cores) of a block: (0, 1) and (1, 0) are kernels for one kind, with the scheduler that SyncAll and cross-core flags need. */
#define __mix__(aic, aiv) PITON_MIX_##aic##_##aiv
#define PITON_MIX_0_1
#define PITON_MIX_1_0 __cube__
#define PITON_MIX_1_1 const volatile
#define PITON_MIX_1_2 volatile

/* A launch header may have guessed this one as `void *` for the host compiler. */
#undef GM_ADDR
#define GM_ADDR __gm__ uint8_t *

/*
 * Written as `if ASCEND_IS_AIV {`. One pass mostly compiles for both kinds of core, so that the answer comes at run time. A source that asks the preprocessor
 * for the kind of core is compiled for each (PITON_BY_CORE): then it is a constant, and what the other kind would run need not compile. The host is neither.
 */
#if defined(PITON_BY_CORE)
#define ASCEND_IS_AIV constexpr(::AscendC::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC constexpr(::AscendC::g_coreType == ::AscendC::AIC)
#define ASCEND_IS_NOT_AIV constexpr(::AscendC::g_coreType != ::AscendC::AIV)
#define ASCEND_IS_NOT_AIC constexpr(::AscendC::g_coreType != ::AscendC::AIC)
#else
#define ASCEND_IS_AIV (::piton::IsVectorCore())
#define ASCEND_IS_AIC (!::piton::IsVectorCore())
#define ASCEND_IS_NOT_AIV (!::piton::IsVectorCore())
#define ASCEND_IS_NOT_AIC (::piton::IsVectorCore())
#endif

enum KernelMetaType {
    KERNEL_TYPE_AIV_ONLY,
    KERNEL_TYPE_AIC_ONLY,
    KERNEL_TYPE_MIX_AIV_1_0,
    KERNEL_TYPE_MIX_AIC_1_0,
    KERNEL_TYPE_MIX_AIC_1_1,
    KERNEL_TYPE_MIX_AIC_1_2,
    KERNEL_TYPE_AICORE,
    KERNEL_TYPE_VECTORCORE,
    KERNEL_TYPE_MIX_AICORE,
    KERNEL_TYPE_MIX_VECTOR_CORE, /* of other chips; public kernels name it for all of them, and it makes no difference on this one */
    KERNEL_TYPE_MAX,
};

/* Tells the launch which cores a block has. */
#define KERNEL_TASK_TYPE_DEFAULT(type) ::piton::SubmitTaskType(type)

/*
 * Marks our own functions, so that the kernel's basic blocks are counted and not those of these headers. Coverage calls are placed after inlining: an inlined
 * function of ours would count as the kernel's, by whatever number of blocks the compiler makes of it. One that might throw would end the caller's block.
 * Where the toolchain counts (PITON_COUNTS_BLOCKS), they are neither inlined nor do they throw: the engine ends a kernel without unwinding it.
 */
#if defined(__has_attribute)
#if __has_attribute(no_sanitize_coverage)
#define PITON_UNCOUNTED __attribute__((no_sanitize_coverage))
#endif
#endif
#ifndef PITON_UNCOUNTED
#define PITON_UNCOUNTED
#endif
#if defined(PITON_COUNTS_BLOCKS) && defined(__GNUC__)
#define PITON_API PITON_UNCOUNTED __attribute__((noinline, nothrow)) inline
#else
#define PITON_API PITON_UNCOUNTED inline
#endif

/* The same for what has to be inlined even into a kernel that would be too large for it; no branches in these. */
#if defined(__GNUC__)
#define PITON_INLINE_API PITON_UNCOUNTED __attribute__((always_inline)) inline
#else
#define PITON_INLINE_API PITON_UNCOUNTED inline
#endif

#endif /* PITON_ASCENDC_MACROS_H */
