/*
 * LocalMemAllocator: tensors one after another, for kernels with statically addressed tensors. Conditional and IsSameType, which such kernels use.
 *
 * Problem and approach: the next free address of the memory, in whole blocks of 32 bytes; asking for more than there is ends the launch.
 * Limits: no fixpipe buffer; not to be mixed with TPipe, which does not know of it.
 */
#ifndef PITON_ASCENDC_ALLOCATOR_H
#define PITON_ASCENDC_ALLOCATOR_H

#include "tensor.h"

namespace AscendC {

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

template <bool condition, typename T, typename F>
struct Conditional {
    using type = std::conditional_t<condition, T, F>;
};

template <typename T, typename U>
struct IsSameType {
    static constexpr bool value = std::is_same<T, U>::value;
};

template <Hardware hard = Hardware::UB>
class LocalMemAllocator {
    static_assert(hard != Hardware::GM && hard < Hardware::FIXBUF, "LocalMemAllocator: the virtual NPU has Hardware::UB, L1, L0A, L0B, L0C and BIAS");
    static constexpr TPosition kPositions[] = {TPosition::GM, TPosition::VECCALC, TPosition::A1, TPosition::A2, TPosition::B2, TPosition::CO1, TPosition::C2};
    static constexpr TPosition kPosition = kPositions[static_cast<uint8_t>(hard)];
    static constexpr uint8_t kSpace = piton::SpaceOf(kPosition);

public:
    PITON_API LocalMemAllocator() {}
    PITON_API uint32_t GetCurAddr() const { return head_; }

    template <TPosition pos, class DataType, uint32_t tileSize>
    PITON_API LocalTensor<DataType> Alloc(piton::Location at = piton::Location()) {
        static_assert(piton::SpaceOf(pos) == kSpace,
                      "LocalMemAllocator: the position has to be one in this memory: VECIN, VECOUT, VECCALC for UB, A1, B1, C1 for L1, A2 for L0A, B2 for L0B, "
                      "CO1 for L0C, C2 for BIAS");
        return Take<DataType>(pos, tileSize, at);
    }
    template <TPosition pos, class DataType>
    PITON_API LocalTensor<DataType> Alloc(uint32_t tileSize, piton::Location at = piton::Location()) {
        static_assert(piton::SpaceOf(pos) == kSpace,
                      "LocalMemAllocator: the position has to be one in this memory: VECIN, VECOUT, VECCALC for UB, A1, B1, C1 for L1, A2 for L0A, B2 for L0B, "
                      "CO1 for L0C, C2 for BIAS");
        return Take<DataType>(pos, tileSize, at);
    }
    template <class DataType, uint32_t tileSize>
    PITON_API LocalTensor<DataType> Alloc(piton::Location at = piton::Location()) {
        return Take<DataType>(kPosition, tileSize, at);
    }
    template <class DataType>
    PITON_API LocalTensor<DataType> Alloc(uint32_t tileSize, piton::Location at = piton::Location()) {
        return Take<DataType>(kPosition, tileSize, at);
    }

private:
    template <class DataType>
    PITON_API LocalTensor<DataType> Take(TPosition position, uint32_t tileSize, piton::Location at) {
        vnpu_record question = piton::MakeNote(VNPU_OP_GET_CAPACITY, at, kSpace);
        const uint64_t capacity = piton::Fetch(question);
        const uint64_t end = head_ + (uint64_t(tileSize) * sizeof(DataType) + piton::kBlockBytes - 1) / piton::kBlockBytes * piton::kBlockBytes;
        if (end > capacity) {
            piton::Fault(VNPU_FAULT_UB_OVERFLOW, "Alloc", at, end, static_cast<uint32_t>(capacity), kSpace);
        }
        const uint32_t begin = head_;
        head_ = static_cast<uint32_t>(end);
        return LocalTensor<DataType>(position, begin, tileSize, at);
    }

    uint32_t head_ = 0; /* the next free byte */
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_ALLOCATOR_H */
