/*
 * Sums of all cores in global memory: cleared, settled and turned into y, each by all cores together and between barriers of all of them.
 *
 * float32 and int32 are summed in y itself; float16 and bfloat16 as float32, int64 as planes of halves (segment_element.h), in the workspace.
 */
#ifndef REFERENCE_SEGMENT_TOTALS_H
#define REFERENCE_SEGMENT_TOTALS_H

#include "kernel_operator.h"

#include "../../../common/row_vector.h"
#include "segment_element.h"

template <typename T>
class SegmentTotals {
public:
    using Element = SegmentElement<T>;
    using Sum = typename Element::Sum;
    static constexpr uint32_t kTile = 2048;   // elements
    static constexpr uint32_t kGranule = 64;  // elements; a core begins at whole bursts
    static constexpr uint32_t kTileWords = kTile * Element::kWords;

    __aicore__ inline void Init(GM_ADDR y, GM_ADDR workspace, int64_t elements) {
        elements_ = elements;
        const auto share = common::ShareOf((elements + kGranule - 1) / kGranule);
        first_ = share.first * kGranule;
        const int64_t end = (share.first + share.count) * kGranule;
        last_ = end < elements ? end : elements;
        y_.SetGlobalBuffer((__gm__ T *)y);
        sums_.SetGlobalBuffer((__gm__ Sum *)(Element::kIsItself ? y : workspace));
    }

    __aicore__ inline void Clear() {
        AscendC::TPipe pipe;
        AscendC::TBuf<AscendC::TPosition::VECCALC> zeros;
        constexpr uint32_t kZeros = 8192;
        pipe.InitBuffer(zeros, kZeros * sizeof(Sum));
        const auto zero = zeros.Get<Sum>();
        AscendC::Duplicate(zero, static_cast<Sum>(0), kZeros);
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(0);
        for (uint32_t plane = 0; plane < Element::kPlanes; ++plane) {
            const int64_t end = PlaneStart(plane) + last_ * Element::kWords;
            for (int64_t at = PlaneStart(plane) + first_ * Element::kWords; at < end; at += kZeros) {
                const uint32_t count = end - at < kZeros ? end - at : kZeros;
                AscendC::DataCopyPad(sums_[at], zero, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(Sum)), 0, 0, 0});
            }
        }
    }

    /* Rounds or puts together what was summed, into y; or, for int64, keeps the planes' halves small so that sums can go on. */
    __aicore__ inline void Finish(bool isLast) {
        if constexpr (!Element::kIsItself) {
            AscendC::TPipe pipe;
            InitBuffers(pipe);
            for (int64_t at = first_; at < last_; at += kTile) {
                const uint32_t count = last_ - at < kTile ? last_ - at : kTile;
                if constexpr (Element::kIsLong) {
                    FinishLongTile(at, count, isLast);
                } else {
                    FinishNarrowTile(at, count);
                }
            }
        }
    }

private:
    __aicore__ inline int64_t PlaneStart(uint32_t plane) const { return plane * elements_ * Element::kWords; }

    __aicore__ inline void InitBuffers(AscendC::TPipe &pipe) {
        pipe.InitBuffer(in_, 2, kTileWords * 4 * Element::kPlanes);
        pipe.InitBuffer(out_, 2, kTileWords * 4 * Element::kPlanes);
        if constexpr (Element::kIsLong) {
            pipe.InitBuffer(part_, kTileWords * 4);
            pipe.InitBuffer(previous_, kTileWords * 4);
            FillPrevious(previous_.template Get<int32_t>(), kTileWords);
        }
    }

    __aicore__ inline AscendC::LocalTensor<Sum> Load(int64_t at, uint32_t count) {
        auto sums = in_.template AllocTensor<Sum>();
        const uint32_t bytes = count * Element::kWords * sizeof(Sum);
        for (uint32_t plane = 0; plane < Element::kPlanes; ++plane) {
            AscendC::DataCopyPad(sums[plane * kTileWords], sums_[PlaneStart(plane) + at * Element::kWords], AscendC::DataCopyExtParams{1, bytes, 0, 0, 0},
                                 AscendC::DataCopyPadExtParams<Sum>{false, 0, 0, 0});
        }
        in_.EnQue(sums);
        return in_.template DeQue<Sum>();
    }

    __aicore__ inline void FinishNarrowTile(int64_t at, uint32_t count) {
        auto sums = Load(at, count);
        auto y = out_.template AllocTensor<T>();
        AscendC::Cast(y, sums, AscendC::RoundMode::CAST_RINT, count);
        in_.FreeTensor(sums);
        out_.EnQue(y);
        auto stored = out_.template DeQue<T>();
        AscendC::DataCopyPad(y_[at], stored, AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        out_.FreeTensor(stored);
    }

    __aicore__ inline void FinishLongTile(int64_t at, uint32_t count, bool isLast) {
        auto sums = Load(at, count);
        const auto low = sums, high = sums[kTileWords];
        const CarryWork work{previous_.template Get<int32_t>(), part_.template Get<int32_t>()};
        const uint32_t words = count * Element::kWords;
        auto y = out_.template AllocTensor<int32_t>();
        if (isLast) {
            FinishLong(y, low, high, work, words);
        } else {
            NormaliseLong(low, high, work, y, words);
            AscendC::Adds(y, low, 0, words);
            AscendC::Adds(y[kTileWords], high, 0, words);
            AscendC::PipeBarrier<PIPE_V>();
        }
        in_.FreeTensor(sums);
        out_.EnQue(y);
        auto stored = out_.template DeQue<int32_t>();
        const AscendC::DataCopyExtParams copied{1, static_cast<uint32_t>(words * 4), 0, 0, 0};
        if (isLast) {
            AscendC::DataCopyPad(y_[at], stored.template ReinterpretCast<T>(), copied);
        } else {
            AscendC::DataCopyPad(sums_[PlaneStart(0) + at * Element::kWords], stored, copied);
            AscendC::DataCopyPad(sums_[PlaneStart(1) + at * Element::kWords], stored[kTileWords], copied);
        }
        out_.FreeTensor(stored);
    }

    AscendC::TQue<AscendC::TPosition::VECIN, 2> in_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> part_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> previous_;
    AscendC::GlobalTensor<T> y_;
    AscendC::GlobalTensor<Sum> sums_;
    int64_t elements_;
    int64_t first_;
    int64_t last_;
};

#endif  // REFERENCE_SEGMENT_TOTALS_H
