/*
 * The steps of SoftMax, SoftmaxFlash, SoftmaxFlashV2 and LogSoftMax.
 *
 * Problem: the functions differ in what they start from (maxima and sums of an earlier part of the rows), in what they end with (exponentials, quotients,
 * logarithms) and in how a matrix lies in memory; the steps are the same.
 * Approach: the documented steps in groups of rows: maximum, with the earlier one; difference and exponential; sum, with the earlier one times the factor
 * between the maxima; quotient; logarithm to base 10. Rows of floats are worked on where they go, others in a slot of floats.
 * Limits: what the padding of a row holds goes through the same steps, as documented, but into no maximum and no sum.
 */
#ifndef PITON_ASCENDC_NORMS_SOFTMAX_ROWS_H
#define PITON_ASCENDC_NORMS_SOFTMAX_ROWS_H

#include "row_numbers.h"

namespace piton {

/* A matrix as it is read and written: rows one after the other, or (NZ) columns of 16 elements, each column of all rows after another. */
template <typename T, bool isNz>
struct Matrix {
    const RowsWork &work;
    const AscendC::LocalTensor<T> &dst, &src;
    uint32_t storedRows;
    uint32_t slot = 0; /* where its rows are as floats */

    static constexpr bool kIsInPlace = std::is_same<T, float>::value && !isNz;

    /* Rows from `first` on as floats. */
    PITON_API FloatTensor Load(uint32_t first, const RowBlock &block) const {
        if constexpr (isNz) {
            EachColumn(block, [&](uint32_t column, const Rows &rows, uint32_t row) {
                Move(work.Slot(slot)[row * rows.pitch + column], src[Place(first + row, column)], {1, 1, rows.Stride(), kStep}, rows);
            });
            return work.Slot(slot);
        } else {
            return work.Wide(slot, src[first * work.shape.pitch], block);
        }
    }
    /* Where their results are made. */
    PITON_API FloatTensor Result(uint32_t first) const {
        if constexpr (kIsInPlace) {
            return dst[first * work.shape.pitch];
        } else {
            return work.Slot(slot);
        }
    }
    PITON_API void Store(uint32_t first, const RowBlock &block) const {
        if constexpr (isNz) {
            EachColumn(block, [&](uint32_t column, const Rows &rows, uint32_t row) {
                Move(dst[Place(first + row, column)], work.Slot(slot)[row * rows.pitch + column], {1, 1, kStep, rows.Stride()}, rows);
            });
        } else if constexpr (!kIsInPlace) {
            work.Give(dst[first * work.shape.pitch], work.Slot(slot), block.Count());
        }
    }

private:
    static constexpr uint32_t kFractal = 16;
    static constexpr uint8_t kStep = kFractal * sizeof(T) / kBlockBytes; /* blocks from row to row */

    PITON_API uint32_t Place(uint32_t row, uint32_t column) const { return column * storedRows + row * kFractal; }
    /* `step(column, rows, first)`: all rows at once where their strides allow it. */
    template <typename Step>
    PITON_API void EachColumn(const RowBlock &block, const Step &step) const {
        const bool isTogether = block.shape.pitch / kFloatsOfBlock <= kMostPitch;
        const uint32_t together = isTogether ? block.shape.rows : 1;
        for (uint32_t row = 0; row < block.shape.rows; row += together) {
            for (uint32_t column = 0; column < block.shape.pitch; column += kFractal) {
                step(column, Rows{together, kFractal, block.shape.pitch, block.shape.at}, row);
            }
        }
        block.shape.Barrier();
    }
    template <typename D, typename S>
    PITON_API void Move(const AscendC::LocalTensor<D> &to, const AscendC::LocalTensor<S> &from, const AscendC::UnaryRepeatParams &strides,
                        const Rows &rows) const {
        if constexpr (std::is_same<D, S>::value) {
            AscendC::Adds(to, from, static_cast<S>(0.0f), uint64_t(kFractal), rows.rows, strides, rows.at);
        } else {
            AscendC::Cast(to, from, AscendC::RoundMode::CAST_NONE, uint64_t(kFractal), rows.rows, strides, rows.at);
        }
    }
};

/* What a call is given besides the matrix; null where there is none. S: type of sums and maxima, T: of the factors. */
template <typename T, typename S>
struct SoftmaxNumbers {
    const AscendC::LocalTensor<S> *sum = nullptr, *max = nullptr, *firstMax = nullptr;
    const AscendC::LocalTensor<T> *factor = nullptr;
    const AscendC::LocalTensor<S> *oldSum = nullptr, *oldMax = nullptr;
    bool isDense = false;
};

enum class SoftmaxEnd { kExponential, kQuotient, kLogarithm };

/* Numbers of a group: 0 the maximum, 1 the sum, 2 an earlier number, 3 the factor between the maxima. */
template <typename T, typename S, bool isNz, SoftmaxEnd end>
struct SoftmaxGroup {
    const Matrix<T, isNz> &matrix;
    const SoftmaxNumbers<T, S> &given;
    const RowsWork &work;
    uint32_t start, count;

    PITON_API void operator()() const {
        Maxima();
        Exponentials();
        Sums();
        if constexpr (end != SoftmaxEnd::kExponential) {
            Quotients();
        }
        Tell();
    }

private:
    PITON_API RowNumbers Numbers() const { return {work, start, count, work.Spread(1), given.isDense}; }
    PITON_API bool IsUpdate() const { return given.oldMax != nullptr; }

    PITON_API void Maxima() const {
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            ReduceRows<MaxOfRows>(work.Number(0)[first], matrix.Load(start + first, block), work.Lanes(), block.shape);
        });
        if (!IsUpdate()) {
            return;
        }
        const FloatSteps steps = work.Numbers(count);
        if (given.firstMax != nullptr) {
            Numbers().Tell(*given.firstMax, work.Number(0));
        }
        Numbers().Take(work.Number(2), *given.oldMax);
        steps.Max(work.Number(0), work.Number(0), work.Number(2));
        steps.Sub(work.Number(3), work.Number(2), work.Number(0));
        steps.Exp(work.Number(3), work.Number(3));
    }
    PITON_API void OneExponential(uint32_t first, const RowBlock &block) const {
        const FloatTensor y = matrix.Result(start + first);
        block.Whole().template ByNumber<SubOfTwo>(y, matrix.Load(start + first, block), work.Spread(0)[first * kFloatsOfBlock]);
        block.Steps().Exp(y, y);
    }
    PITON_API void Exponentials() const {
        work.SpreadNumbers(work.Spread(0), work.Number(0), count);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            OneExponential(first, block);
            work.Sum(work.Number(1), first, matrix.Result(start + first), block);
            if (end == SoftmaxEnd::kExponential) {
                matrix.Store(start + first, block);
            }
        });
    }
    PITON_API void Sums() const {
        if (!IsUpdate()) {
            return;
        }
        const FloatSteps steps = work.Numbers(count);
        Numbers().Take(work.Number(2), *given.oldSum);
        steps.Mul(work.Number(2), work.Number(2), work.Number(3));
        steps.Add(work.Number(1), work.Number(1), work.Number(2));
        if (end != SoftmaxEnd::kExponential) {
            steps.Div(work.Number(3), work.Number(2), work.Number(1)); /* the share that the earlier part keeps */
        }
    }
    PITON_API void Quotients() const {
        constexpr float kOneByLn10 = 0.434294482f;
        work.SpreadNumbers(work.Spread(1), work.Number(1), count);
        work.EachChunk(count, [&](uint32_t first, const RowBlock &block) {
            if (!Matrix<T, isNz>::kIsInPlace && !work.IsOneChunk(count)) {
                OneExponential(first, block); /* the slot has another chunk by now */
            }
            const FloatTensor y = matrix.Result(start + first);
            block.Whole().template ByNumber<DivOfTwo>(y, y, work.Spread(1)[first * kFloatsOfBlock]);
            if (end == SoftmaxEnd::kLogarithm) {
                block.Steps().Ln(y, y);
                block.Steps().Muls(y, y, kOneByLn10);
            }
            matrix.Store(start + first, block);
        });
    }
    PITON_API void Tell() const {
        const RowNumbers numbers = Numbers();
        if (given.sum != nullptr) {
            numbers.Tell(*given.sum, work.Number(1));
        }
        if (given.max != nullptr) {
            numbers.Tell(*given.max, work.Number(0));
        }
        if (given.factor != nullptr && IsUpdate()) {
            numbers.Tell(*given.factor, work.Number(3));
        }
    }
};

/* The numbers of a call lie outside the memory. */
template <typename T, typename S>
PITON_API void RequireApartNumbers(const RowsWork &work, const SoftmaxNumbers<T, S> &given) {
    const uint64_t each = given.isDense ? 1 : kBlockBytes / sizeof(S), rows = work.shape.first;
    for (const auto *tensor : {given.sum, given.max, given.firstMax, given.oldSum, given.oldMax}) {
        if (tensor != nullptr) {
            work.Apart(rows * each, *tensor);
        }
    }
    if (given.factor != nullptr) {
        work.Apart(rows * (given.isDense ? 1 : kBlockBytes / sizeof(T)), *given.factor);
    }
}

/* `lengths`: rows and columns with data, stored columns; `storedRows` as a matrix NZ has them. */
template <bool isNz, SoftmaxEnd end, typename T, typename S>
PITON_API void SoftmaxOfMatrix(const char *api, const AscendC::LocalTensor<T> &dst, const AscendC::LocalTensor<T> &src,
                               const AscendC::LocalTensor<uint8_t> &memory, const AxisShape &lengths, uint32_t storedRows, const SoftmaxNumbers<T, S> &given) {
    const RowsWork work(api, memory, SoftmaxNeeds(lengths.pitch), lengths);
    RequireRange(api, 3, lengths.pitch * sizeof(T) % kBlockBytes, 0, 0, lengths.at);
    RequireRange(api, 3, lengths.last, 1, lengths.pitch, lengths.at);
    RequireRange(api, 3, lengths.first, 0, storedRows, lengths.at);
    work.Apart(uint64_t(isNz ? storedRows : lengths.first) * lengths.pitch, src, dst);
    RequireApartNumbers(work, given);
    const Matrix<T, isNz> matrix{work, dst, src, storedRows};
    work.EachGroup([&](uint32_t start, uint32_t count) { SoftmaxGroup<T, S, isNz, end>{matrix, given, work, start, count}(); });
}

}  // namespace piton

#endif /* PITON_ASCENDC_NORMS_SOFTMAX_ROWS_H */
