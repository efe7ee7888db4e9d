/*
 * DataCacheCleanAndInvalid: write the scalar unit's cache lines back and forget them.
 *
 * Problem and approach: one record; the engine keeps the cache.
 * Limits: CACHELINE_ATOMIC does not exist on the Ascend 910B; on a LocalTensor, which the scalar unit sees directly, it does nothing.
 */
#ifndef PITON_ASCENDC_CACHE_H
#define PITON_ASCENDC_CACHE_H

#include "tensor.h"

namespace AscendC {

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };

enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

}  // namespace AscendC

namespace piton {

PITON_API void SubmitCacheClean(const vnpu_operand &operand, AscendC::CacheLine lines, AscendC::DcciDst destination, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_CACHE_CLEAN, at, static_cast<uint32_t>(lines), static_cast<uint32_t>(destination));
    record.src0 = operand;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, CacheLine entireType, DcciDst dcciDst>
PITON_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst, piton::Location at = piton::Location()) {
    static_assert(dcciDst != DcciDst::CACHELINE_ATOMIC, "DcciDst::CACHELINE_ATOMIC is not supported on the Ascend 910B; use CACHELINE_OUT");
    piton::SubmitCacheClean(dst.Operand(), entireType, dcciDst, at);
}

template <typename T, CacheLine entireType, DcciDst dcciDst>
PITON_API void DataCacheCleanAndInvalid(const LocalTensor<T> &dst, piton::Location at = piton::Location()) {
    static_assert(dcciDst != DcciDst::CACHELINE_ATOMIC, "DcciDst::CACHELINE_ATOMIC is not supported on the Ascend 910B; use CACHELINE_OUT");
    piton::SubmitCacheClean(dst.Operand(), entireType, dcciDst, at);
}

template <typename T, CacheLine entireType>
PITON_API void DataCacheCleanAndInvalid(const GlobalTensor<T> &dst, piton::Location at = piton::Location()) {
    piton::SubmitCacheClean(dst.Operand(), entireType, DcciDst::CACHELINE_OUT, at);
}

/* Loads the line at `cacheOffset` bytes into the data cache: as a scalar load does, for its time and without its value. */
template <typename T>
PITON_API void DataCachePreload(const GlobalTensor<uint64_t> &src, const T cacheOffset, piton::Location at = piton::Location()) {
    static_assert(std::is_same<T, int16_t>::value || std::is_same<T, int64_t>::value, "DataCachePreload takes its offset as int16_t or int64_t");
    constexpr int64_t kWord = sizeof(uint64_t);
    src.GetValue(static_cast<uint64_t>(static_cast<int64_t>(cacheOffset) / kWord), at);
}

/* Units of 2 KiB. Instructions are not fetched here, so that nothing happens. */
PITON_API void ICachePreLoad(const int64_t preFetchLen, piton::Location at = piton::Location()) {
    constexpr int64_t kMost = 15; /* 32 KiB of a cube core */
    piton::RequireRange("ICachePreLoad", 0, preFetchLen, int64_t(0), kMost, at);
}

/* 0: no preload is under way. */
PITON_API int64_t GetICachePreloadStatus() { return 0; }

}  // namespace AscendC

#endif /* PITON_ASCENDC_CACHE_H */
