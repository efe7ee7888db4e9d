/* What the kernels of Matmul objects share: tensors at addresses that a test gives, and the structure that it wrote for them. */
#ifndef PITON_ENGINE_MATMUL_CASES_H
#define PITON_ENGINE_MATMUL_CASES_H

#include "engine_kernels.h"

namespace rig {

template <typename T>
GlobalTensor<T> At(uint64_t address) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<T *>(address));
    return tensor;
}

/* The structure at the beginning of the kernel's input. */
template <class Case>
Case CaseOf(const Arguments &x) {
    Case given;
    std::memcpy(static_cast<void *>(&given), x.in, sizeof given);
    return given;
}

}  // namespace rig

#endif /* PITON_ENGINE_MATMUL_CASES_H */
