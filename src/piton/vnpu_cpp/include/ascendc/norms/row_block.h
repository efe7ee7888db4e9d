/*
 * Rows of floats with one number each, or one row for all: the steps that the functions of rows are made of.
 *
 * Problem: an instruction goes along a row or, by its repeat strides, through 64 columns of many rows; which is less work hangs on the shape.
 * Approach: a block of rows chooses: with few columns one instruction per 64 columns takes all rows, with few rows one per row takes all columns.
 * Limits: across rows at most 255 of them, at most 255 blocks apart.
 */
#ifndef PITON_ASCENDC_NORMS_ROW_BLOCK_H
#define PITON_ASCENDC_NORMS_ROW_BLOCK_H

#include "../composed.h"
#include "../row_reduce.h"
#include "needs.h"

namespace piton {

/* An instruction of two sources, for a mask with repeats. */
#define PITON_ROW_OPERATION(Name)                                                                                                     \
    struct Name##OfTwo {                                                                                                              \
        PITON_API static void Do(const FloatTensor &dst, const FloatTensor &a, const FloatTensor &b, uint64_t mask, uint32_t repeats, \
                                 const AscendC::BinaryRepeatParams &strides, Location at) {                                           \
            AscendC::Name(dst, a, b, mask, repeats, strides, at);                                                                     \
        }                                                                                                                             \
    };
PITON_ROW_OPERATION(Add)
PITON_ROW_OPERATION(Sub)
PITON_ROW_OPERATION(Mul)
PITON_ROW_OPERATION(Div)
#undef PITON_ROW_OPERATION

/* `rows` rows of `columns` floats, `pitch` floats apart. */
struct RowBlock {
    Rows shape;

    PITON_API uint32_t Count() const { return shape.rows * shape.pitch; }
    PITON_API bool IsAcross() const { return RowsGoAcross(shape); }
    /* The same with the padding as data. */
    PITON_API RowBlock Whole() const { return {{shape.rows, shape.pitch, shape.pitch, shape.at}}; }
    /* Elementwise steps over all of it, padding included. */
    PITON_API FloatSteps Steps() const { return {FloatTensor(), 0, static_cast<int32_t>(Count()), shape.at}; }

    /* dst = src op the number of each row, a block of it in `blocks`, `apart` blocks from row to row. */
    template <typename Operation>
    PITON_API void ByNumber(const FloatTensor &dst, const FloatTensor &src, const FloatTensor &blocks, uint32_t apart = 1) const {
        if (IsAcross()) {
            const uint8_t pitch = shape.Stride();
            shape.EachRepeat(
                [&](uint32_t done, uint64_t mask) { Operation::Do(dst[done], src[done], blocks, mask, shape.rows, {1, 1, 0, pitch, pitch, apart}, shape.at); });
            return;
        }
        for (uint32_t row = 0; row < shape.rows; ++row) {
            AlongRow<Operation>(dst[row * shape.pitch], src[row * shape.pitch], blocks[row * apart * kFloatsOfBlock], 0);
        }
        shape.Barrier();
    }
    /* dst = src op `row`, the same for all. */
    template <typename Operation>
    PITON_API void ByRow(const FloatTensor &dst, const FloatTensor &src, const FloatTensor &other) const {
        if (IsAcross()) {
            const uint8_t pitch = shape.Stride();
            shape.EachRepeat([&](uint32_t done, uint64_t mask) {
                Operation::Do(dst[done], src[done], other[done], mask, shape.rows, {1, 1, 1, pitch, pitch, 0}, shape.at);
            });
            return;
        }
        for (uint32_t row = 0; row < shape.rows; ++row) {
            AlongRow<Operation>(dst[row * shape.pitch], src[row * shape.pitch], other, 1);
        }
        shape.Barrier();
    }

private:
    /* `step`: 0 for a block that is repeated, 1 for a row. */
    template <typename Operation>
    PITON_API void AlongRow(const FloatTensor &dst, const FloatTensor &src, const FloatTensor &other, uint8_t step) const {
        const uint8_t otherRepeat = step * 8;
        for (uint32_t done = 0; done < shape.columns;) {
            const uint32_t left = shape.columns - done, whole = Fewer(left / kFloatLanes, kMostRepeats), repeats = whole == 0 ? 1 : whole;
            const uint64_t mask = whole == 0 ? left : kFloatLanes;
            Operation::Do(dst[done], src[done], other[done * step], mask, repeats, {1, 1, step, 8, 8, otherRepeat}, shape.at);
            done += repeats * static_cast<uint32_t>(mask);
        }
    }
};

/* Temporary memory, cut as `needs` say. */
struct RowsWork {
    const char *api;
    RowNeeds needs;
    RowPlan plan;
    AxisShape shape;
    FloatTensor memory;

    PITON_API RowsWork(const char *name, const AscendC::LocalTensor<uint8_t> &given, const RowNeeds &what, const AxisShape &rows)
        : api(name), needs(what), plan(PlanRows(given.GetSize(), rows.first, what)), shape(rows), memory(given.template ReinterpretCast<float>()) {
        if (plan.chunk == 0) {
            Fault(VNPU_FAULT_UB_OVERFLOW, api, rows.at, LeastBytes(what), given.GetSize());
        }
    }
    PITON_API uint64_t Used() const { return needs.Bytes(plan.group, plan.chunk); }
    /* `elements` of each of the call's tensors lie outside the memory. */
    template <typename... T>
    PITON_API void Apart(uint64_t elements, const AscendC::LocalTensor<T> &...tensors) const {
        (RequireApart(api, tensors.Operand(), elements * sizeof(T), memory.Operand(), Used(), shape.at), ...);
    }
    PITON_API FloatTensor Number(uint32_t which) const { return memory[needs.fixed + which * plan.group]; }
    PITON_API FloatTensor Spread(uint32_t which) const { return memory[needs.fixed + (needs.numbers + which * kFloatsOfBlock) * plan.group]; }
    PITON_API FloatTensor Lanes() const { return memory[needs.fixed + plan.group * static_cast<uint32_t>(needs.OfGroup())]; }
    PITON_API FloatTensor Slot(uint32_t which) const { return Lanes()[plan.chunk * (kFloatLanes + which * needs.pitch)]; }
    PITON_API bool IsOneChunk(uint32_t count) const { return count <= plan.chunk; }

    /* `step(first, count)` for groups of all rows. */
    template <typename Step>
    PITON_API void EachGroup(const Step &step) const {
        for (uint32_t first = 0; first < shape.first; first += plan.group) {
            step(first, Fewer(shape.first - first, plan.group));
        }
    }
    /* `step(first, block)` for the chunks of a group of `count`. */
    template <typename Step>
    PITON_API void EachChunk(uint32_t count, const Step &step) const {
        for (uint32_t first = 0; first < count; first += plan.chunk) {
            step(first, RowBlock{{Fewer(count - first, plan.chunk), shape.last, shape.pitch, shape.at}});
        }
    }
    /* Steps over the numbers of `count` rows. */
    PITON_API FloatSteps Numbers(uint32_t count) const { return {FloatTensor(), 0, static_cast<int32_t>(count), shape.at}; }
    /* Each number over a block. */
    PITON_API void SpreadNumbers(const FloatTensor &blocks, const FloatTensor &numbers, uint32_t count) const {
        AscendC::Brcb(blocks, numbers, (count + 7) / 8, {1, 8}, shape.at);
        SubmitBarrier(VNPU_PIPE_V, VNPU_F_QUEUE, shape.at);
    }
    /* The sum of each row of a block, from number `first` on. */
    PITON_API void Sum(const FloatTensor &numbers, uint32_t first, const FloatTensor &src, const RowBlock &block) const {
        ReduceRows<SumOfRows>(numbers[first], src, Lanes(), block.shape);
    }
    /* Rows as floats: themselves, or cast into a slot. */
    template <typename T>
    PITON_API FloatTensor Wide(uint32_t slot, const AscendC::LocalTensor<T> &rows, const RowBlock &block) const {
        return WidePart(Slot(slot), rows, block.Steps());
    }
    /* `count` floats as T. */
    template <typename T>
    PITON_API void Give(const AscendC::LocalTensor<T> &dst, const FloatTensor &src, uint32_t count) const {
        GiveFloats(dst, src, count, shape.at);
    }
};

}  // namespace piton

#endif /* PITON_ASCENDC_NORMS_ROW_BLOCK_H */
