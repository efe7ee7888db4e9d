/* Bytes from global memory to global memory, through the unified buffer: two buffers, each loaded while the other is stored. */
#ifndef REFERENCE_COPY_KERNEL_H
#define REFERENCE_COPY_KERNEL_H

#include "kernel_operator.h"

#include "row_vector.h"

namespace common {

class CopyKernel {
public:
    static constexpr uint32_t kTile = 65536, kGranule = 512;  // bytes

    /* This core's share of `bytes`. */
    __aicore__ inline void Run(GM_ADDR to, GM_ADDR from, int64_t bytes) {
        if (bytes <= 0) {
            return;
        }
        AscendC::TPipe pipe;
        AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2> tiles;
        pipe.InitBuffer(tiles, 2, kTile);
        AscendC::GlobalTensor<int8_t> source, target;
        source.SetGlobalBuffer((__gm__ int8_t *)from);
        target.SetGlobalBuffer((__gm__ int8_t *)to);
        source.SetL2CacheHint(AscendC::CacheMode::CACHE_MODE_DISABLE);  // read once: leave the L2 to the output
        const auto share = ShareOf((bytes + kGranule - 1) / kGranule);
        const int64_t end = (share.first + share.count) * kGranule, last = end < bytes ? end : bytes;
        for (int64_t at = share.first * kGranule; at < last; at += kTile) {
            const uint32_t count = last - at < kTile ? last - at : kTile;
            auto tile = tiles.AllocTensor<int8_t>();
            AscendC::DataCopyPad(tile, source[at], AscendC::DataCopyExtParams{1, count, 0, 0, 0}, AscendC::DataCopyPadExtParams<int8_t>{false, 0, 0, 0});
            tiles.EnQue(tile);
            auto stored = tiles.DeQue<int8_t>();
            AscendC::DataCopyPad(target[at], stored, AscendC::DataCopyExtParams{1, count, 0, 0, 0});
            tiles.FreeTensor(stored);
        }
    }
};

}  // namespace common

#endif  // REFERENCE_COPY_KERNEL_H
