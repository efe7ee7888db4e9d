/*
 * GlobalTensor and LocalTensor: typed windows onto device memory and on-chip memory.
 *
 * Problem: a kernel addresses memory through these; the engine needs space, address and the end of the owning buffer of every operand.
 * Approach: a tensor is an address, an end and a size; element access goes through scalar load and store records.
 * An element of 4 bits is half a byte, so that offsets of int4b_t tensors have to be even (documentation page of the type).
 * Limits: the size given to SetGlobalBuffer is not a bound (it is none on the chip): the engine checks against real allocations. A LocalTensor is bounded
 * by its whole buffer, not by SetSize. GetPhyAddr of on-chip memory is an offset: dereferencing it faults.
 */
#ifndef PITON_ASCENDC_TENSOR_H
#define PITON_ASCENDC_TENSOR_H

#include "enums.h"
#include "record.h"
#include "shape_info.h"

namespace piton {

constexpr uint32_t kUnbounded = 0xffffffffu;
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kRepeatBytes = 256;

struct QueueBuffer; /* queue.h */

/* A load or store of the scalar unit. */
template <typename T>
PITON_API T LoadScalar(const vnpu_operand &operand, Location at) {
    static_assert(!std::is_same<T, AscendC::int4b_t>::value, "the scalar unit has no 4-bit values: ReinterpretCast to int8_t");
    vnpu_record record = MakeNote(VNPU_OP_SCALAR_LOAD, at, sizeof(T));
    record.src0 = operand;
    return FromBits<T>(Fetch(record));
}

template <typename T>
PITON_API void StoreScalar(const vnpu_operand &operand, T value, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SCALAR_STORE, at, sizeof(T));
    record.dst = operand;
    record.scalar = ToBits(value);
    Submit(record);
}

/* What `tensor(i)` returns: reads and writes of it are records. */
template <typename T>
struct Element {
    vnpu_operand operand;
    Location at;

    PITON_API operator T() const { return LoadScalar<T>(operand, at); }
    PITON_API Element &operator=(T value) {
        StoreScalar<T>(operand, value, at);
        return *this;
    }
    PITON_API Element &operator=(const Element &other) { return *this = static_cast<T>(other); }
    PITON_API Element &operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }
    PITON_API Element &operator-=(T value) { return *this = static_cast<T>(static_cast<T>(*this) - value); }
    PITON_API Element &operator*=(T value) { return *this = static_cast<T>(static_cast<T>(*this) * value); }
};

}  // namespace piton

namespace AscendC {

template <typename T>
class LocalTensor;

}  // namespace AscendC

namespace piton {

/* The right operand of an operator on tensors: its conversion is where the user's line is known. */
template <typename T>
struct RightOperand {
    const AscendC::LocalTensor<T> &tensor;
    Location at;

    PITON_API RightOperand(const AscendC::LocalTensor<T> &given, Location here = Location()) : tensor(given), at(here) {}
};

/* What `x + y` and `x < y` give until they are assigned (operators.h). */
template <typename T, uint16_t opcode>
struct Expression {
    const AscendC::LocalTensor<T> &src0;
    const AscendC::LocalTensor<T> &src1;
    Location at;
};
template <typename T>
struct Comparison {
    const AscendC::LocalTensor<T> &src0;
    const AscendC::LocalTensor<T> &src1;
    AscendC::CMPMODE mode;
    Location at;
};

}  // namespace piton

namespace AscendC {

template <typename T>
class GlobalTensor {
public:
    using PrimType = T;

    PITON_API void SetGlobalBuffer(__gm__ T *buffer) { SetGlobalBuffer(buffer, 0); }
    PITON_API void SetGlobalBuffer(__gm__ T *buffer, uint64_t bufferSize) {
        base_ = buffer;
        size_ = bufferSize;
    }
    PITON_API __gm__ T *GetPhyAddr(const uint64_t offset = 0) const { return After(offset); }
    PITON_API uint64_t GetSize() const { return size_; }

    PITON_API GlobalTensor operator[](const uint64_t offset) const {
        GlobalTensor part = *this;
        part.base_ = After(offset);
        part.size_ = size_ > offset ? size_ - offset : 0;
        return part;
    }
    PITON_API piton::Element<T> operator()(const uint64_t offset, piton::Location at = piton::Location()) const { return {At(offset), at}; }
    PITON_API T GetValue(const uint64_t offset, piton::Location at = piton::Location()) const { return piton::LoadScalar<T>(At(offset), at); }
    PITON_API void SetValue(const uint64_t offset, T value, piton::Location at = piton::Location()) { piton::StoreScalar<T>(At(offset), value, at); }

    PITON_API void SetShapeInfo(const ShapeInfo &shapeInfo) { shape_ = piton::KeepShape(shapeInfo); }
    PITON_API ShapeInfo GetShapeInfo() const { return shape_ == nullptr ? ShapeInfo() : *shape_; }

    template <CacheRwMode rwMode = CacheRwMode::RW>
    PITON_API void SetL2CacheHint(CacheMode mode) {
        cacheMode_ = mode;
    }

    /* Ours: the operand of this tensor's first element, and the copy flag its cache hint asks for. */
    PITON_API vnpu_operand Operand() const { return At(0); }
    PITON_API uint8_t CopyFlags() const { return cacheMode_ == CacheMode::CACHE_MODE_DISABLE ? VNPU_F_L2_BYPASS : 0; }

private:
    PITON_API __gm__ T *After(uint64_t offset) const { return base_ + (std::is_same<std::remove_cv_t<T>, int4b_t>::value ? offset / 2 : offset); }
    PITON_API vnpu_operand At(uint64_t offset) const {
        vnpu_operand operand{};
        operand.addr = reinterpret_cast<uint64_t>(After(offset));
        operand.limit = piton::kUnbounded;
        operand.space = VNPU_SPACE_GM;
        operand.dtype = piton::kDtype<std::remove_cv_t<T>>;
        return operand;
    }

    T *base_ = nullptr;
    uint64_t size_ = 0; /* elements; 0 when not told */
    CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
    const ShapeInfo *shape_ = nullptr; /* as SetShapeInfo said */
};

template <typename T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;

    /* A statically addressed tensor of `tileSize` elements; not to be mixed with TPipe. */
    PITON_API LocalTensor(TPosition position, piton::Narrow<uint32_t> addr, piton::Narrow<uint32_t> tileSize, piton::Location at = piton::Location())
        : address_(addr.Get("LocalTensor", 1, at)), size_(tileSize.Get("LocalTensor", 2, at)), position_(position) {
        end_ = address_ + static_cast<uint32_t>(piton::BytesOf<T>(size_));
    }

    /* Ours: a window of `size` elements onto the buffer that ends at `end`. */
    PITON_API LocalTensor(TPosition position, uint32_t address, uint32_t end, uint32_t size, piton::QueueBuffer *buffer)
        : address_(address), end_(end), size_(size), position_(position), buffer_(buffer) {}

    PITON_API LocalTensor operator[](const uint32_t offset) const {
        LocalTensor part = *this;
        part.address_ = address_ + static_cast<uint32_t>(piton::BytesOf<T>(offset));
        part.size_ = size_ > offset ? size_ - offset : 0;
        return part;
    }
    template <typename U>
    PITON_API LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(position_, address_, end_, static_cast<uint32_t>(piton::ElementsIn<U>(piton::BytesOf<T>(size_))), buffer_);
    }

    PITON_API piton::Element<T> operator()(const uint32_t offset, piton::Location at = piton::Location()) const { return {At(offset), at}; }
    PITON_API T GetValue(const uint32_t index, piton::Location at = piton::Location()) const { return piton::LoadScalar<T>(At(index), at); }
    template <typename S>
    PITON_API void SetValue(const uint32_t index, const S value, piton::Location at = piton::Location()) const {
        piton::StoreScalar<T>(At(index), static_cast<T>(value), at);
    }

    PITON_API uint64_t GetPhyAddr(const uint32_t offset = 0) const { return address_ + piton::BytesOf<T>(offset); }
    PITON_API uint32_t GetSize() const { return size_; }
    PITON_API uint32_t GetLength() const { return static_cast<uint32_t>(piton::BytesOf<T>(size_)); }
    PITON_API void SetSize(const uint32_t size) { size_ = size; }
    PITON_API void SetBufferLen(uint32_t dataLen) { size_ = static_cast<uint32_t>(piton::ElementsIn<T>(dataLen)); }
    PITON_API int32_t GetPosition() const { return static_cast<int32_t>(position_); }
    PITON_API void SetUserTag(const int32_t tag) { tag_ = tag; }
    PITON_API int32_t GetUserTag() const { return tag_; }
    PITON_API void SetShapeInfo(const ShapeInfo &shapeInfo) { shape_ = piton::KeepShape(shapeInfo); }
    PITON_API ShapeInfo GetShapeInfo() const { return shape_ == nullptr ? ShapeInfo() : *shape_; }
    /* Become the part of `src` from its element `offset` on. */
    template <typename S>
    PITON_API void SetAddrWithOffset(LocalTensor<S> &src, uint32_t offset) {
        *this = src[offset].template ReinterpretCast<T>();
    }
    /* Elements as text, defined in dump.h. */
    PITON_API void Print(piton::Location at = piton::Location()) const;
    PITON_API void Print(uint32_t len, piton::Location at = piton::Location()) const;

    /* Whole-tensor instructions, defined in operators.h. */
    template <uint16_t opcode>
    PITON_API const LocalTensor &operator=(const piton::Expression<T, opcode> &given) const;
    template <typename U>
    PITON_API const LocalTensor &operator=(const piton::Comparison<U> &given) const;

#define PITON_OPERATOR(symbol, opcode)                                                                                           \
    PITON_API friend piton::Expression<T, opcode> operator symbol(const LocalTensor &src0, const piton::RightOperand<T> &src1) { \
        return {src0, src1.tensor, src1.at};                                                                                     \
    }
    PITON_OPERATOR(+, VNPU_OP_ADD)
    PITON_OPERATOR(-, VNPU_OP_SUB)
    PITON_OPERATOR(*, VNPU_OP_MUL)
    PITON_OPERATOR(/, VNPU_OP_DIV)
    PITON_OPERATOR(&, VNPU_OP_AND)
    PITON_OPERATOR(|, VNPU_OP_OR)
#undef PITON_OPERATOR
#define PITON_COMPARISON(symbol, mode)                                                                                   \
    PITON_API friend piton::Comparison<T> operator symbol(const LocalTensor &src0, const piton::RightOperand<T> &src1) { \
        return {src0, src1.tensor, CMPMODE::mode, src1.at};                                                              \
    }
    PITON_COMPARISON(<, LT)
    PITON_COMPARISON(>, GT)
    PITON_COMPARISON(==, EQ)
    PITON_COMPARISON(<=, LE)
    PITON_COMPARISON(>=, GE)
    PITON_COMPARISON(!=, NE)
#undef PITON_COMPARISON

    /* Ours. */
    PITON_API vnpu_operand Operand() const { return At(0); }
    PITON_API piton::QueueBuffer *Buffer() const { return buffer_; }

private:
    PITON_API vnpu_operand At(uint32_t offset) const {
        vnpu_operand operand{};
        operand.addr = address_ + piton::BytesOf<T>(offset);
        operand.limit = operand.addr < end_ ? static_cast<uint32_t>(end_ - operand.addr) : 0;
        operand.space = piton::SpaceOf(position_);
        operand.dtype = piton::kDtype<T>;
        return operand;
    }

    uint32_t address_ = 0; /* byte offset in its memory */
    uint32_t end_ = 0;     /* of the buffer it belongs to */
    uint32_t size_ = 0;    /* elements */
    int32_t tag_ = 0;
    const ShapeInfo *shape_ = nullptr; /* as SetShapeInfo said */
    TPosition position_ = TPosition::VECCALC;
    piton::QueueBuffer *buffer_ = nullptr; /* null for TBuf and static tensors */
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_TENSOR_H */
