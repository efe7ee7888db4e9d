/*
 * What the generated entry of a project's kernel is made of.
 *
 * Problem: the kernel takes one address per tensor, workspace and tiling data; which tiling key holds it is not told.
 * Approach: the entry is the kernel that is launched. It takes the key, the size of the tiling data and all addresses, tells the first two (ascendc/tiling.h)
 * and calls the kernel.
 * Limits: parameters of the kernel have to be addresses.
 */
#ifndef PITON_PROJECT_ENTRY_H
#define PITON_PROJECT_ENTRY_H

#include "addresses.h"
#include "kernel_operator.h"

namespace piton_project {

template <std::size_t N, typename Result, typename... P, std::size_t... I>
PITON_API void CallKernel(Result (*kernel)(P...), const Addresses<N> &addresses, std::index_sequence<I...>) {
    kernel(reinterpret_cast<P>(addresses.at[I])...);
}

template <std::size_t N, typename Result, typename... P>
PITON_API void CallKernel(Result (*kernel)(P...), const Addresses<N> &addresses) {
    constexpr uint32_t kKind = piton::DeclaredKind<Result>();
    if constexpr (kKind != VNPU_CORE_AIV) { /* `__cube__`, `__mix__`, of which the entry itself knows nothing */
        piton::Submit(piton::MakeNote(VNPU_OP_TASK_TYPE, piton::Location(), kKind, VNPU_TYPE_DEFAULT));
    }
    static_assert(sizeof...(P) == N, "the kernel has to take one address per input and output of the OpDef, the workspace and the tiling data, in this order");
    static_assert((std::is_pointer<P>::value && ...), "every parameter of a project's kernel is an address");
    if constexpr (sizeof...(P) == N) {
        CallKernel(kernel, addresses, std::index_sequence_for<P...>());
    }
}

[[noreturn]] PITON_API void FailCombination(uint64_t key) {
    piton::FailTiling("no combination of ASCENDC_TPL_SEL has tiling key " + std::to_string(key), piton::Location());
}

}  // namespace piton_project

#endif /* PITON_PROJECT_ENTRY_H */
