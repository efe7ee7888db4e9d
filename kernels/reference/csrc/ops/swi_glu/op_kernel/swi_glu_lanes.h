/*
 * The gate on rows whose halves are short: whole tiles of rows in one transfer, told apart on chip.
 *
 * Problem: halves of a few hundred bytes that begin anywhere make transfers of their own that move up to twice their bytes; and in one transfer for all rows
 * they begin where no vector instruction can (only at multiples of 32 bytes).
 * Approach: TransDataTo5HD turns 16 blocks of 32 bytes, one from each of 16 rows, into columns: one element of each row side by side, in a block of its own.
 * Then any column begins at a multiple of 32 bytes, both halves are dense, and the result is turned back into rows. The blocks it reads have to be aligned too:
 * row r begins at r times its length, so that after a `period` of 1 to 8 rows the place within a block repeats. Rows of one such class are turned together,
 * from the block in which they begin; the columns that this brings in front are skipped. In float32 the instruction turns 8 rows of two classes.
 * Limits: a tile has period times 8 (float32) or 16 rows and has to fit twice; PlanLanes says when this pays.
 */
#ifndef REFERENCE_SWI_GLU_LANES_H
#define REFERENCE_SWI_GLU_LANES_H

#include <numeric>
#include <type_traits>

#include "../../../common/row_vector.h"
#include "../../../common/tiling.h"
#include "swi_glu_gate.h"

constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kTurned = 16;  // blocks of one turn

struct LanesTiling {
    int64_t rows;
    uint32_t columns;  // of one half
    uint32_t period;   // rows after which the place within a block repeats
    uint32_t blocks;   // vector cores; 0: rows do not suit
};

/* Elements of the tensors that a tile needs. */
template <typename T>
struct LanesRoom {
    static constexpr bool kIsFloat = std::is_same_v<T, float>;
    static constexpr uint32_t kBlock = kBlockBytes / sizeof(T);  // elements of a block, and rows of a class in a tile
    static constexpr uint32_t kClasses = kIsFloat ? 2 : 1;       // of one turn

    constexpr LanesRoom(uint32_t columns, uint32_t period)
        : rows(period * kBlock),
          stride(common::RoundUp(columns, kBlock)),
          turned((common::RoundUp(2 * columns + kBlock - 1, kBlock)) * kBlock),
          in(common::RoundUp(rows * 2 * columns, kBlock) + 2 * kBlock),
          out(kTurned * stride),
          result(stride * kBlock) {}

    constexpr int64_t Bytes() const {
        const int64_t narrow = 2 * in + 2 * out + kClasses * (turned + result);
        return narrow * sizeof(T) + (kIsFloat ? 0 : 2 * result * sizeof(float));
    }

    int64_t rows;    // of a tile
    int64_t stride;  // from row to row of the results
    int64_t turned;  // one class, as columns
    int64_t in;      // a tile; a turn reads up to two blocks past its last row
    int64_t out;     // rows of one turn
    int64_t result;  // one class, as columns
};

template <typename T>
inline LanesTiling PlanLanes(int64_t rows, int64_t columns) {
    constexpr int64_t kElementsPerLaunch = 700;  // twenty vector cycles per 64 elements
    // Longer halves are as fast as transfers of their own. 16-bit types give the vector unit half as much time for its tile.
    constexpr int64_t kLongestBytes = LanesRoom<T>::kIsFloat ? 4096 : 128;
    constexpr int64_t kBurstStart = 128;  // halves that all begin at multiples of this lose nothing
    const int64_t bytes = columns * sizeof(T);
    if (bytes > kLongestBytes || bytes % kBurstStart == 0) {
        return {rows, 0, 0, 0};
    }
    const int64_t repeating = kBlockBytes / std::gcd<int64_t>(kBlockBytes, 2 * bytes);
    const auto period = static_cast<uint32_t>(std::max<int64_t>(repeating, LanesRoom<T>::kClasses));
    const LanesRoom<T> room(static_cast<uint32_t>(columns), period);
    if (room.Bytes() > common::UnifiedBufferBytes()) {
        return {rows, 0, 0, 0};
    }
    const int64_t blocks = std::min(common::WorthwhileCores(rows * columns, kElementsPerLaunch), rows);
    return {rows, static_cast<uint32_t>(columns), period, static_cast<uint32_t>(blocks)};
}

template <typename T>
class SwiGluLanes {
public:
    using Room = LanesRoom<T>;
    static constexpr int32_t kBuffers = 2;
    static constexpr bool kIsFloat = Room::kIsFloat;
    static constexpr uint32_t kBlock = Room::kBlock;
    static constexpr uint32_t kClasses = Room::kClasses;
    using Word = std::conditional_t<kIsFloat, float, half>;  // what TransDataTo5HD knows of T's width

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const LanesTiling &tiling) {
        const Room room(tiling.columns, tiling.period);
        const common::Share share = common::ShareOf(tiling.rows);
        columns_ = tiling.columns;
        period_ = tiling.period;
        rows_ = share.count;
        perTile_ = room.rows;
        stride_ = room.stride;
        turnedLength_ = room.turned;
        resultLength_ = room.result;
        x_.SetGlobalBuffer((__gm__ T *)x + share.first * 2 * columns_, rows_ * 2 * columns_);
        y_.SetGlobalBuffer((__gm__ T *)y + share.first * columns_, rows_ * columns_);
        x_.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        pipe_.InitBuffer(in_, kBuffers, room.in * sizeof(T));
        pipe_.InitBuffer(out_, kBuffers, room.out * sizeof(T));
        pipe_.InitBuffer(turned_, kClasses * room.turned * sizeof(T));
        pipe_.InitBuffer(result_, kClasses * room.result * sizeof(T));
        if constexpr (!kIsFloat) {
            pipe_.InitBuffer(wide_, 2 * room.result * sizeof(float));
        }
    }

    __aicore__ inline void Process() {
        CopyIn(0);
        for (int64_t row = 0; row < rows_; row += perTile_) {
            CopyIn(row + perTile_);
            auto x = in_.template DeQue<T>();
            for (uint32_t first = 0; first < period_; first += kClasses) {
                Compute(x, first);
                CopyOut(row, first);
            }
            in_.FreeTensor(x);
        }
    }

private:
    __aicore__ inline uint32_t RowsAt(int64_t row) const { return rows_ - row < perTile_ ? rows_ - row : perTile_; }

    __aicore__ inline void CopyIn(int64_t row) {
        if (row >= rows_) {
            return;
        }
        const uint32_t bytes = RowsAt(row) * 2 * columns_ * sizeof(T);
        auto x = in_.template AllocTensor<T>();
        AscendC::DataCopyPad(x, x_[row * 2 * columns_], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
        in_.EnQue(x);
    }

    /* The rows of one class, or of two, from `first` on. */
    __aicore__ inline void Compute(const AscendC::LocalTensor<T> &x, uint32_t first) {
        const auto turned = turned_.template Get<T>(), result = result_.template Get<T>();
        AscendC::PipeBarrier<PIPE_V>();  // the last class has been turned back
        TurnIn(turned, x, first);
        AscendC::PipeBarrier<PIPE_V>();
        const uint32_t count = columns_ * kBlock;
        for (uint32_t index = 0; index < kClasses; ++index) {
            const auto a = turned[index * turnedLength_ + SkippedOf(first + index) * kBlock], b = a[count], y = result[index * resultLength_];
            if constexpr (kIsFloat) {
                Gate(y, a, count);
                AscendC::Mul(y, y, b, count);
            } else {
                const auto gated = wide_.template Get<float>();
                GateWidened(y, a, b, gated, gated[resultLength_], count);
            }
        }
        auto rows = out_.template AllocTensor<T>();
        AscendC::PipeBarrier<PIPE_V>();
        TurnOut(rows, result);
        out_.EnQue(rows);
    }

    /* Columns in front of the first one, which share its block. */
    __aicore__ inline uint32_t SkippedOf(uint32_t classIndex) const { return classIndex * 2 * columns_ % kBlock; }

    __aicore__ inline uint64_t AddressOf(const AscendC::LocalTensor<T> &tensor, uint32_t element) const { return (uint64_t)tensor[element].GetPhyAddr(); }

    __aicore__ inline void TurnIn(const AscendC::LocalTensor<T> &turned, const AscendC::LocalTensor<T> &x, uint32_t first) {
        uint64_t from[kTurned], to[kTurned];
        for (uint32_t index = 0; index < kClasses; ++index) {
            for (uint32_t lane = 0; lane < kBlock; ++lane) {
                const uint32_t start = (first + index + lane * period_) * 2 * columns_;
                from[index * kBlock + lane] = AddressOf(x, start / kBlock * kBlock);
                to[lane * kClasses + index] = AddressOf(turned, index * turnedLength_ + lane * kBlock);
            }
        }
        Turn(to, from, turnedLength_ / (kBlock * kBlock), kBlock, 1);
    }

    __aicore__ inline void TurnOut(const AscendC::LocalTensor<T> &rows, const AscendC::LocalTensor<T> &result) {
        uint64_t from[kTurned], to[kTurned];
        for (uint32_t index = 0; index < kClasses; ++index) {
            for (uint32_t lane = 0; lane < kBlock; ++lane) {
                from[index * kBlock + lane] = AddressOf(result, index * resultLength_ + lane * kBlock);
                to[lane * kClasses + index] = AddressOf(rows, (index * kBlock + lane) * stride_);
            }
        }
        Turn(to, from, stride_ / kBlock, 1, kBlock);
    }

    /* Blocks to move on from repeat to repeat; a single repeat has to be told not to. */
    __aicore__ inline void Turn(uint64_t (&to)[kTurned], uint64_t (&from)[kTurned], uint32_t repeats, uint32_t toMove, uint32_t fromMove) {
        const bool isSingle = repeats == 1;
        AscendC::TransDataTo5HD<Word>(to, from, AscendC::TransDataTo5HDParams(false, false, repeats, isSingle ? 0 : toMove, isSingle ? 0 : fromMove));
    }

    /* Rows of a class lie `period` rows apart. */
    __aicore__ inline void CopyOut(int64_t row, uint32_t first) {
        auto y = out_.template DeQue<T>();
        const uint32_t rows = RowsAt(row), bytes = columns_ * sizeof(T);
        for (uint32_t index = 0; index < kClasses; ++index) {
            const uint32_t begin = first + index;
            if (begin < rows) {
                const auto count = static_cast<uint16_t>((rows - begin + period_ - 1) / period_);
                AscendC::DataCopyPad(y_[(row + begin) * columns_], y[index * kBlock * stride_],
                                     AscendC::DataCopyExtParams{count, bytes, 0, (period_ - 1) * bytes, 0});
            }
        }
        out_.FreeTensor(y);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, kBuffers> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, kBuffers> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> turned_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> result_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    uint32_t columns_;
    uint32_t period_;
    int64_t rows_;
    int64_t perTile_;
    uint32_t stride_;
    uint32_t turnedLength_;
    uint32_t resultLength_;
};

#endif  // REFERENCE_SWI_GLU_LANES_H
