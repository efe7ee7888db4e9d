/*
 * The framework's own copies and its Duplicate as public kernels call them: DataCopyPadGm2UBImpl, DataCopyPadUB2GMImpl, DataCopyGM2UBImpl, DataCopyUB2GMImpl,
 * DuplicateImpl.
 *
 * Problem: they take pointers where the documented calls take tensors; kernels call them for types that those do not take (int64_t as pairs of uint32_t).
 * Approach: a pointer into the unified buffer is its offset here, so that a tensor is made of each and the documented call does the rest.
 * Limits: no page describes them. A pointer knows no end: only the memory's bounds are checked, and an L2 hint of its tensor is lost, as on the chip.
 */
#ifndef PITON_ASCENDC_FRAMEWORK_COPIES_H
#define PITON_ASCENDC_FRAMEWORK_COPIES_H

#include "copy.h"
#include "duplicate.h"

namespace piton {

template <typename T>
PITON_API AscendC::LocalTensor<T> TensorAt(T *pointer) {
    const auto address = static_cast<uint32_t>(reinterpret_cast<uint64_t>(pointer));
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, address, UINT32_MAX, (UINT32_MAX - address) / static_cast<uint32_t>(sizeof(T)), nullptr);
}

template <typename T>
PITON_API AscendC::GlobalTensor<T> GlobalAt(__gm__ T *pointer) {
    AscendC::GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(pointer);
    return tensor;
}

}  // namespace piton

namespace AscendC {

template <typename T>
PITON_API void DataCopyPadGm2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyExtParams &intriParams, const DataCopyPadExtParams<T> &padParams,
                                    piton::Location at = piton::Location()) {
    DataCopyPad(piton::TensorAt(dst), piton::GlobalAt(src), intriParams, padParams, at);
}
template <typename T>
PITON_API void DataCopyPadGm2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyParams &intriParams, const DataCopyPadParams &padParams,
                                    piton::Location at = piton::Location()) {
    DataCopyPad(piton::TensorAt(dst), piton::GlobalAt(src), intriParams, padParams, at);
}

template <typename T>
PITON_API void DataCopyPadUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyExtParams &intriParams, piton::Location at = piton::Location()) {
    DataCopyPad(piton::GlobalAt(dst), piton::TensorAt(src), intriParams, at);
}
template <typename T>
PITON_API void DataCopyPadUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyParams &intriParams, piton::Location at = piton::Location()) {
    DataCopyPad(piton::GlobalAt(dst), piton::TensorAt(src), intriParams, at);
}

template <typename T>
PITON_API void DataCopyGM2UBImpl(__ubuf__ T *dst, __gm__ T *src, const DataCopyParams &intriParams, piton::Location at = piton::Location()) {
    DataCopy(piton::TensorAt(dst), piton::GlobalAt(src), intriParams, at);
}

template <typename T>
PITON_API void DataCopyUB2GMImpl(__gm__ T *dst, __ubuf__ T *src, const DataCopyParams &intriParams, piton::Location at = piton::Location()) {
    DataCopy(piton::GlobalAt(dst), piton::TensorAt(src), intriParams, at);
}

template <typename T>
PITON_API void DuplicateImpl(__ubuf__ T *dst, const T scalarValue, const int32_t count, piton::Location at = piton::Location()) {
    Duplicate(piton::TensorAt(dst), scalarValue, count, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_FRAMEWORK_COPIES_H */
