/* Where cummin cuts rows into parts: what each part comes to is written to device memory, and read by those that follow. */
#ifndef REFERENCE_CUMMIN_PARTS_H
#define REFERENCE_CUMMIN_PARTS_H

#include <type_traits>

#include "../../../common/lanes.h"

constexpr int64_t kCumminPartBytes = 128;  // in device memory: keys and places of a part's rows, and of all of it

template <typename Key>
class CumminParts {
public:
    using Keys = AscendC::LocalTensor<Key>;

    /* `perRow` parts; nothing is smaller than `highest`. */
    __aicore__ inline void Init(AscendC::TPipe &pipe, GM_ADDR workspace, int64_t perRow, Key highest) {
        perRow_ = perRow;
        highest_ = highest;
        parts_.SetGlobalBuffer((__gm__ int32_t *)workspace);
        pipe.InitBuffer(record_, kCumminPartBytes);
        pipe.InitBuffer(others_, perRow * 32);
    }

    /* What the rows of a part come to, and all of it. */
    __aicore__ inline void Store(int64_t unit, const Keys &keys, const common::Words &places) {
        const auto record = record_.template Get<int32_t>();
        common::Await<AscendC::HardEvent::V_S>();
        Single least{keys.GetValue(0), places.GetValue(0)};
        for (uint32_t row = 1; row < kRows; ++row) {
            const Single one{keys.GetValue(row), places.GetValue(row)};
            least = IsSmaller(one, least) ? one : least;
        }
        record.template ReinterpretCast<Key>().SetValue(0, least.key);
        record.SetValue(1, least.place);
        common::Await<AscendC::HardEvent::S_V>();
        common::Await<AscendC::HardEvent::V_MTE3>();
        common::Await<AscendC::HardEvent::S_MTE3>();
        const uint32_t rowBytes = kRows * sizeof(int32_t), first = unit * kPartWords;
        AscendC::DataCopyPad(parts_[first], keys.template ReinterpretCast<int32_t>(), {1, rowBytes, 0, 0, 0});
        AscendC::DataCopyPad(parts_[first + kRows], places, {1, rowBytes, 0, 0, 0});
        AscendC::DataCopyPad(parts_[first + 2 * kRows], record, {1, 2 * sizeof(int32_t), 0, 0, 0});
        common::Await<AscendC::HardEvent::MTE3_V>();
        common::Await<AscendC::HardEvent::MTE3_S>();
    }

    /* What each row of a part starts with: the least of all before it. */
    __aicore__ inline void Begin(int64_t unit, const Keys &keys, const common::Words &places) {
        const uint32_t earlier = unit % perRow_, apart = (kPartWords - 2) * sizeof(int32_t);
        const int64_t first = (unit - earlier) * kPartWords;
        const auto own = record_.template Get<int32_t>(), others = others_.template Get<int32_t>();
        const AscendC::DataCopyPadExtParams<int32_t> noPadding{false, 0, 0, 0};
        common::Await<AscendC::HardEvent::V_MTE2>();
        AscendC::DataCopyPad(own, parts_[unit * kPartWords], AscendC::DataCopyExtParams{1, 2 * kRows * sizeof(int32_t), 0, 0, 0}, noPadding);
        if (earlier > 0) {
            const AscendC::DataCopyExtParams blocks{static_cast<uint16_t>(earlier), 2 * sizeof(int32_t), apart, 0, 0};
            AscendC::DataCopyPad(others, parts_[first + 2 * kRows], blocks, noPadding);
        }
        common::Await<AscendC::HardEvent::MTE2_S>();
        common::Await<AscendC::HardEvent::V_S>();
        Single least{highest_, 0};
        for (uint32_t part = 0; part < earlier; ++part) {
            Meet(least, others[part * kRows], 0, 1);
        }
        for (uint32_t row = 0; row < kRows; ++row) {
            keys.SetValue(row, least.key);
            places.SetValue(row, least.place);
            Meet(least, own, row, kRows + row);
        }
        common::Await<AscendC::HardEvent::S_V>();
        common::Await<AscendC::HardEvent::S_MTE2>();
    }

private:
    /* A minimum in the scalar unit. */
    struct Single {
        Key key;
        int32_t place;
    };

    static __aicore__ inline bool IsSmaller(const Single &a, const Single &b) {
        if constexpr (std::is_same_v<Key, float>) {
            return a.key < b.key || (a.key != a.key && b.key == b.key);
        } else {
            return a.key < b.key;
        }
    }

    static constexpr uint32_t kPartWords = kCumminPartBytes / sizeof(int32_t);
    static constexpr uint32_t kRows = 8;  // of a part

    __aicore__ inline void Meet(Single &least, const common::Words &record, uint32_t keyAt, uint32_t placeAt) {
        const Single one{record.template ReinterpretCast<Key>().GetValue(keyAt), record.GetValue(placeAt)};
        least = IsSmaller(one, least) ? one : least;
    }

    AscendC::TBuf<AscendC::TPosition::VECIN> record_;
    AscendC::TBuf<AscendC::TPosition::VECIN> others_;
    AscendC::GlobalTensor<int32_t> parts_;
    int64_t perRow_;
    Key highest_;
};

#endif  // REFERENCE_CUMMIN_PARTS_H
