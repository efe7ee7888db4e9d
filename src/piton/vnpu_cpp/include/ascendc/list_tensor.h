/*
 * ListTensorDesc and TensorDesc: the tensors of a dynamic input, as a table in global memory.
 *
 * Problem: an input of any number of tensors reaches a kernel as one address; shapes and addresses have to be found behind it.
 * Approach: the documented table of 64-bit words: the byte offset of the addresses; per tensor a word (low half: dimensions, high half: its number) and one
 * word per dimension; then one address per tensor. Each word is a load of the scalar unit through its data cache, and costs as one.
 * Limits: the tensors are counted by walking the table, so it is walked on Init; `length` is not checked, `shapeSize` is.
 */
#ifndef PITON_ASCENDC_LIST_TENSOR_H
#define PITON_ASCENDC_LIST_TENSOR_H

#include "tensor.h"

namespace AscendC {

class ListTensorDesc;

/* Shape and address of one tensor of the list; the shape lies in memory that SetShapeAddr gives: a word of dimensions and number, then the lengths. */
template <class T>
class TensorDesc {
public:
    PITON_API void SetShapeAddr(uint64_t *shapePtr) { shape_ = shapePtr; }
    PITON_API uint64_t GetDim() { return shape_[0] & 0xffffffffu; }
    PITON_API uint64_t GetIndex() { return shape_[0] >> 32; }
    PITON_API uint64_t GetShape(uint32_t offset) { return shape_[1 + offset]; }
    PITON_API __gm__ T *GetDataPtr() { return data_; }
    PITON_API GlobalTensor<T> GetDataObj() {
        GlobalTensor<T> tensor;
        tensor.SetGlobalBuffer(data_);
        return tensor;
    }

private:
    friend class ListTensorDesc;

    uint64_t *shape_ = nullptr;
    __gm__ T *data_ = nullptr;
};

class ListTensorDesc {
public:
    PITON_API ListTensorDesc() {}
    PITON_API ListTensorDesc(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff, piton::Location at = piton::Location()) {
        Init(data, length, shapeSize, at);
    }

    PITON_API void Init(__gm__ void *data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff, piton::Location at = piton::Location()) {
        (void)length; /* of the memory; a table that is longer runs into the end of its allocation, which the engine reports */
        table_.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t *>(data));
        pointers_ = static_cast<uint32_t>(Word(0, at) / sizeof(uint64_t));
        count_ = 0;
        for (uint32_t word = kFirst; word < pointers_; word = Next(word, at)) {
            ++count_;
        }
        if (shapeSize != 0xffffffff) {
            piton::RequireRange("ListTensorDesc", 2, shapeSize, count_, count_, at);
        }
    }

    template <class T>
    PITON_API void GetDesc(TensorDesc<T> &desc, uint32_t index, piton::Location at = piton::Location()) {
        RequireIndex("GetDesc", 1, index, at);
        uint32_t word = kFirst;
        for (uint32_t i = 0; i < index; ++i) {
            word = Next(word, at);
        }
        const uint32_t end = Next(word, at);
        for (uint32_t i = word; i < end; ++i) {
            desc.shape_[i - word] = Word(i, at);
        }
        desc.data_ = GetDataPtr<T>(index, at);
    }

    template <class T>
    PITON_API __gm__ T *GetDataPtr(uint32_t index, piton::Location at = piton::Location()) {
        RequireIndex("GetDataPtr", 0, index, at);
        return reinterpret_cast<__gm__ T *>(Word(pointers_ + index, at));
    }

    PITON_API uint32_t GetSize() { return count_; }

private:
    static constexpr uint32_t kFirst = 1;

    PITON_API uint64_t Word(uint32_t index, piton::Location at) const { return table_.GetValue(index, at); }
    PITON_API uint32_t Next(uint32_t word, piton::Location at) const { return word + 1 + static_cast<uint32_t>(Word(word, at) & 0xffffffffu); }
    PITON_API void RequireIndex(const char *api, uint32_t argument, uint32_t index, piton::Location at) const {
        piton::RequireRange(api, argument, index, 0, static_cast<int64_t>(count_) - 1, at);
    }

    GlobalTensor<uint64_t> table_;
    uint32_t pointers_ = 0; /* word of the first address */
    uint32_t count_ = 0;
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_LIST_TENSOR_H */
