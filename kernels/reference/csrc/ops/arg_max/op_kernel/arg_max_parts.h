/*
 * The end of arg_max where rows are cut into parts: the scalar unit compares what is left of a part, and, when all cores have come so far, of a row.
 */
#ifndef REFERENCE_ARG_MAX_PARTS_H
#define REFERENCE_ARG_MAX_PARTS_H

#include "../../../common/axis_tiling.h"
#include "arg_max_duel.h"

constexpr int64_t kArgMaxPartBytes = 32;  // in device memory: key and place of a part of a row

template <typename T>
class ArgMaxParts {
public:
    using Keys = ArgMaxKeys<T>;
    using Words = common::Words;

    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR indices, GM_ADDR workspace, const common::AxisTiling &tiling) {
        tiling_ = tiling;
        indices_.SetGlobalBuffer((__gm__ int64_t *)indices);
        parts_.SetGlobalBuffer((__gm__ int32_t *)workspace);
        pipe.InitBuffer(record_, kArgMaxPartBytes);
        pipe.InitBuffer(all_, tiling.perOuter * kArgMaxPartBytes);
    }

    /* The largest of a part's rows: stored, or written down for Join. `start` is the part's first element in its row. */
    __aicore__ inline void Finish(int64_t unit, const Contestants &best, int32_t start) {
        common::Await<AscendC::HardEvent::V_S>();
        Single most{};
        for (uint32_t row = 0; row < tiling_.outers; ++row) {
            const int32_t low = Keys::kIsWide ? best.low.GetValue(row) : 0, shift = start + row * tiling_.pitch;
            const Single one{best.key.GetValue(row), low, best.place.GetValue(row) + shift};
            most = row == 0 || IsLarger(one, most) ? one : most;
        }
        common::Await<AscendC::HardEvent::S_V>();
        if (tiling_.perOuter == 1) {
            return StoreIndex(unit, most.place);
        }
        const auto record = record_.template Get<int32_t>();
        record.SetValue(0, most.key);
        record.SetValue(1, most.low);
        record.SetValue(2, most.place);
        common::Await<AscendC::HardEvent::S_MTE3>();
        AscendC::DataCopyPad(parts_[unit * kPartWords], record, {1, 3 * sizeof(int32_t), 0, 0, 0});
        common::Await<AscendC::HardEvent::MTE3_S>();
    }

    /* The largest of the parts of a row, by a core per row. */
    __aicore__ inline void Join() {
        AscendC::SyncAll();
        const auto all = all_.template Get<int32_t>();
        const uint32_t parts = tiling_.perOuter, bytes = 3 * sizeof(int32_t), apart = kPartWords * sizeof(int32_t) - bytes;
        for (int64_t row = AscendC::GetBlockIdx(); row < tiling_.outer; row += AscendC::GetBlockNum()) {
            AscendC::DataCopyPad(all, parts_[row * parts * kPartWords], AscendC::DataCopyExtParams{static_cast<uint16_t>(parts), bytes, apart, 0, 0},
                                 AscendC::DataCopyPadExtParams<int32_t>{false, 0, 0, 0});
            common::Await<AscendC::HardEvent::MTE2_S>();
            Single most{};
            for (uint32_t part = 0; part < parts; ++part) {
                const uint32_t at = part * kPartWords;
                const Single one{all.GetValue(at), all.GetValue(at + 1), all.GetValue(at + 2)};
                most = part == 0 || IsLarger(one, most) ? one : most;
            }
            common::Await<AscendC::HardEvent::S_MTE2>();
            StoreIndex(row, most.place);
        }
    }

private:
    /* A contestant in the scalar unit. */
    struct Single {
        int32_t key;
        int32_t low;
        int32_t place;
    };

    static __aicore__ inline float FloatOf(int32_t bits) { return *reinterpret_cast<const float *>(&bits); }

    static __aicore__ inline bool IsLarger(const Single &a, const Single &b) {
        if constexpr (Keys::kIsFloat) {
            const float x = FloatOf(a.key), y = FloatOf(b.key);
            return x > y || (x != x && y == y);
        } else {
            return a.key > b.key || (a.key == b.key && a.low > b.low);
        }
    }

    __aicore__ inline void StoreIndex(int64_t row, int32_t place) {
        const auto index = record_.template Get<int64_t>();
        index.SetValue(0, place);
        common::Await<AscendC::HardEvent::S_MTE3>();
        AscendC::DataCopyPad(indices_[row], index, {1, sizeof(int64_t), 0, 0, 0});
        common::Await<AscendC::HardEvent::MTE3_S>();
    }

    static constexpr uint32_t kPartWords = kArgMaxPartBytes / sizeof(int32_t);

    AscendC::TBuf<AscendC::TPosition::VECIN> all_;
    AscendC::TBuf<AscendC::TPosition::VECOUT> record_;
    AscendC::GlobalTensor<int64_t> indices_;
    AscendC::GlobalTensor<int32_t> parts_;
    common::AxisTiling tiling_;
};

#endif  // REFERENCE_ARG_MAX_PARTS_H
