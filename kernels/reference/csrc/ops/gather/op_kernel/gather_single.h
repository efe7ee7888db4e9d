/*
 * gather from a plane that does not fit into the unified buffer: every element is a copy of its own into a block of 32 bytes, and the vector unit moves the
 * elements of a tile together.
 *
 * A copy takes 20 cycles of the load engine, about what the scalar unit needs to read the index and to issue it. Nothing on this chip loads scattered
 * elements faster, so that these cases stay far from the memory's rate.
 */
#ifndef REFERENCE_GATHER_SINGLE_H
#define REFERENCE_GATHER_SINGLE_H

#include <type_traits>

#include "kernel_operator.h"

#include "../../../common/lane_pattern.h"
#include "../../../common/row_vector.h"
#include "gather_tiling.h"

template <typename T>
class GatherSingle {
public:
    static constexpr uint32_t kWords = sizeof(T) == 8 ? 2 : 1;
    using Word = std::conditional_t<(sizeof(T) <= 2), int16_t, int32_t>;
    static constexpr uint32_t kBlockBytes = 32;

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR index, GM_ADDR y, const SingleTiling &tiling) {
        tiling_ = tiling;
        share_ = common::ShareOf(tiling.planes.planes * tiling.lines * tiling.chunks);
        x_.SetGlobalBuffer((__gm__ T *)x);
        y_.SetGlobalBuffer((__gm__ T *)y);
        index_.SetGlobalBuffer((__gm__ int8_t *)index);
        const uint32_t elements = common::RoundUp(tiling.perChunk, 32);
        indexBytes_ = elements * tiling.indexBytes;
        pipe_.InitBuffer(blocks_, 2, elements * kBlockBytes);
        pipe_.InitBuffer(results_, 2, elements * sizeof(T));
        pipe_.InitBuffer(indices_, 2 * indexBytes_);
        pipe_.InitBuffer(pattern_, elements * kWords * 4);
        pipe_.InitBuffer(work_, elements * 4);
        FillPattern(elements * kWords);
    }

    __aicore__ inline void Process() {
        const int64_t last = share_.first + share_.count;
        if (share_.count > 0) {
            LoadIndices(share_.first);
        }
        for (int64_t unit = share_.first; unit < last; ++unit) {
            const int32_t buffer = (unit - share_.first) % 2;
            if (unit + 1 < last) {
                if (unit > share_.first) {
                    AscendC::WaitFlag<AscendC::HardEvent::S_MTE2>(1 - buffer);
                }
                LoadIndices(unit + 1);
            }
            AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(buffer);
            Pick(unit);
            if (unit + 2 < last) {
                AscendC::SetFlag<AscendC::HardEvent::S_MTE2>(buffer);
            }
            Store(unit);
        }
    }

private:
    struct Chunk {
        int64_t start;    // in index and y
        int64_t source;   // in x: where the plane begins
        uint32_t column;  // of the first element
        uint32_t count;
    };

    __aicore__ inline Chunk ChunkOf(int64_t unit) const {
        const int64_t line = unit / tiling_.chunks, done = unit % tiling_.chunks * tiling_.perChunk;
        const int64_t plane = line / tiling_.lines, left = tiling_.lineLength - done;
        const int64_t start = common::PlaneStart(tiling_.planes, kIndex, plane) + line % tiling_.lines * tiling_.planes.step[kIndex] + done;
        return {start, common::PlaneStart(tiling_.planes, kX, plane), static_cast<uint32_t>(done % tiling_.planes.width),
                static_cast<uint32_t>(left < tiling_.perChunk ? left : tiling_.perChunk)};
    }

    /* Byte offsets of the first element of each block. */
    __aicore__ inline void FillPattern(uint32_t words) {
        const auto pattern = pattern_.template Get<int32_t>();
        if constexpr (kWords == 1) {
            common::FillQuotients(pattern, 1, kBlockBytes, words);
        } else {  // word i: 32 (i / 2) + 4 (i % 2) = 4 i + 24 (i / 2)
            const auto part = blocks_.template AllocTensor<int32_t>();
            common::FillQuotients(pattern, 1, 4, words);
            common::FillQuotients(part, 2, kBlockBytes - 8, words);
            AscendC::Add(pattern, pattern, part, words);
            AscendC::PipeBarrier<PIPE_V>();
            auto used = part;
            blocks_.FreeTensor(used);
        }
    }

    __aicore__ inline void LoadIndices(int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const int32_t buffer = (unit - share_.first) % 2;
        const uint32_t bytes = chunk.count * tiling_.indexBytes;
        AscendC::DataCopyPad(indices_.template Get<int8_t>()[buffer * indexBytes_], index_[chunk.start * tiling_.indexBytes],
                             AscendC::DataCopyExtParams{1, bytes, 0, 0, 0}, AscendC::DataCopyPadExtParams<int8_t>{false, 0, 0, 0});
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(buffer);
    }

    __aicore__ inline void Pick(int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const auto raw = indices_.template Get<int8_t>()[(unit - share_.first) % 2 * indexBytes_];
        auto blocks = blocks_.template AllocTensor<T>();
        if (tiling_.indexBytes == 8) {
            PickEach(blocks, raw.template ReinterpretCast<int64_t>(), chunk);
        } else if (tiling_.indexBytes == 4) {
            PickEach(blocks, raw.template ReinterpretCast<int32_t>(), chunk);
        } else {
            PickEach(blocks, raw, chunk);
        }
        blocks_.EnQue(blocks);
    }

    template <typename Index>
    __aicore__ inline void PickEach(const AscendC::LocalTensor<T> &blocks, const AscendC::LocalTensor<Index> &places, const Chunk &chunk) {
        const int64_t step = tiling_.planes.step[kX];
        const uint32_t width = tiling_.planes.width;
        uint32_t column = chunk.column;
        const AscendC::DataCopyExtParams one{1, sizeof(T), 0, 0, 0};
        const AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, 0};
        for (uint32_t at = 0; at < chunk.count; ++at) {
            const int64_t place = places.GetValue(at);
            AscendC::DataCopyPad(blocks[at * (kBlockBytes / sizeof(T))], x_[chunk.source + place * step + column], one, pad);
            column = column + 1 == width ? 0 : column + 1;
        }
    }

    __aicore__ inline void Store(int64_t unit) {
        const Chunk chunk = ChunkOf(unit);
        const auto pattern = pattern_.template Get<uint32_t>();
        auto blocks = blocks_.template DeQue<T>();
        auto y = results_.template AllocTensor<T>();
        if constexpr (sizeof(T) == 1) {  // a block is filled with its first element: the upper of two bytes is the element, sign and all
            const auto pairs = work_.template Get<int16_t>();
            AscendC::Gather(pairs, blocks.template ReinterpretCast<int16_t>(), pattern, 0, chunk.count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::ShiftRight(pairs, pairs, static_cast<int16_t>(8), chunk.count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(pairs.template ReinterpretCast<half>(), pairs, AscendC::RoundMode::CAST_NONE, chunk.count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(y, pairs.template ReinterpretCast<half>(), AscendC::RoundMode::CAST_NONE, chunk.count);
        } else {
            AscendC::Gather(y.template ReinterpretCast<Word>(), blocks.template ReinterpretCast<Word>(), pattern, 0, chunk.count * kWords);
        }
        blocks_.FreeTensor(blocks);
        results_.EnQue(y);
        auto stored = results_.template DeQue<T>();
        AscendC::DataCopyPad(y_[chunk.start], stored, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(chunk.count * sizeof(T)), 0, 0, 0});
        results_.FreeTensor(stored);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> blocks_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> results_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> indices_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> pattern_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> work_;
    AscendC::GlobalTensor<T> x_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<int8_t> index_;
    SingleTiling tiling_;
    common::Share share_;
    uint32_t indexBytes_;
};

#endif  // REFERENCE_GATHER_SINGLE_H
