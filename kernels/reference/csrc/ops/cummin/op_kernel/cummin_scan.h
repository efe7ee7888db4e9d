/*
 * Running minimum or maximum along the lines of a tile, each lane by itself, with what came before the tile.
 *
 * Lines: each line is combined with the one before. Rows (lanes.h): the eight lines of all segments first; then the segments' results, shifted by one segment,
 * by two, by four and so on, until each holds that of all before it; then the lines of each segment with what came before it. The shifts read neutral numbers
 * in front of the first segment, and what came before the tile is a segment of its own there.
 */
#ifndef REFERENCE_CUMMIN_SCAN_H
#define REFERENCE_CUMMIN_SCAN_H

#include "../../../common/lanes.h"

template <typename Key, bool isMin>
class CumminScan {
public:
    using Keys = AscendC::LocalTensor<Key>;

    /* Per lane of a tile: twice the segments with as many neutral ones in front; what came before. */
    static constexpr int64_t kBytesPerLane = 5 * sizeof(Key);

    /* `group` lanes are those of one segment, all lanes where the tile has lines. */
    __aicore__ inline void Init(AscendC::TPipe &pipe, uint32_t lanes, uint32_t group, Key neutral) {
        lanes_ = lanes;
        group_ = group;
        neutral_ = neutral;
        pipe.InitBuffer(before_, group * sizeof(Key));
        if (lanes == group) {
            return;
        }
        front_ = group;
        while (2 * front_ <= lanes) {
            front_ *= 2;
        }
        for (auto *buffer : {&even_, &odd_}) {
            pipe.InitBuffer(*buffer, (front_ + lanes + group) * sizeof(Key));
            AscendC::Duplicate(buffer->template Get<Key>(), neutral, static_cast<int32_t>(front_));
        }
    }

    /* What came before the next tile, for `group` lanes. */
    __aicore__ inline Keys Before() { return before_.template Get<Key>(); }

    __aicore__ inline void Begin() { AscendC::Duplicate(Before(), neutral_, static_cast<int32_t>(group_)); }

    /* y may be x. */
    __aicore__ inline void Run(const Keys &y, const Keys &x, uint32_t lines) {
        if (lanes_ == group_) {
            RunLines(y, x, lines);
        } else {
            RunSegments(y, x);
        }
    }

private:
    /* One line, or more that lie one after the other. */
    static __aicore__ inline void Combine(const Keys &to, const Keys &a, const Keys &b, uint32_t count) {
        if constexpr (isMin) {
            AscendC::Min(to, a, b, static_cast<int32_t>(count));
        } else {
            AscendC::Max(to, a, b, static_cast<int32_t>(count));
        }
    }

    __aicore__ inline void RunLines(const Keys &y, const Keys &x, uint32_t lines) {
        auto last = Before();
        for (uint32_t line = 0; line < lines; ++line) {
            const auto now = y[line * lanes_];
            Combine(now, x[line * lanes_], last, lanes_);
            AscendC::PipeBarrier<PIPE_V>();
            last = now;
        }
        Combine(Before(), last, last, lanes_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    __aicore__ inline void RunSegments(const Keys &y, const Keys &x) {
        constexpr uint32_t kLast = common::kLines - 1;
        const auto from = even_.template Get<Key>()[front_];
        Combine(from, Before(), Before(), group_);
        for (uint32_t line = 1; line <= kLast; ++line) {
            const auto last = line == 1 ? x : y[(line - 1) * lanes_];
            Combine(line == kLast ? from[group_] : y[line * lanes_], x[line * lanes_], last, lanes_);
            AscendC::PipeBarrier<PIPE_V>();
        }
        const auto before = CombineSegments();
        for (uint32_t line = 0; line < kLast; ++line) {
            Combine(y[line * lanes_], line == 0 ? x : y[line * lanes_], before, lanes_);
        }
        Combine(y[kLast * lanes_], before[group_], before[group_], lanes_);
        Combine(Before(), before[lanes_], before[lanes_], group_);
        AscendC::PipeBarrier<PIPE_V>();
    }

    /* For each segment what all before it come to, and for one more what all do. */
    __aicore__ inline Keys CombineSegments() {
        auto from = even_.template Get<Key>(), to = odd_.template Get<Key>();
        for (uint32_t shift = group_; shift <= lanes_; shift *= 2) {
            Combine(to[front_], from[front_], from[front_ - shift], lanes_ + group_);
            AscendC::PipeBarrier<PIPE_V>();
            const auto swapped = from;
            from = to;
            to = swapped;
        }
        return from[front_];
    }

    AscendC::TBuf<AscendC::TPosition::VECCALC> before_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> even_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> odd_;
    uint32_t lanes_;
    uint32_t group_;
    uint32_t front_;
    Key neutral_;
};

#endif  // REFERENCE_CUMMIN_SCAN_H
