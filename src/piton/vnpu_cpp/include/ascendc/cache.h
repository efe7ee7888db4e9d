/*
 * DataCacheCleanAndInvalid: write the scalar unit's cache lines back and forget them. ReadGmByPassDCache, WriteGmByPassDCache: past them.
 *
 * Problem and approach: one record each; the engine keeps the cache and lets other cores run while one reads a word again and again.
 * Limits: CACHELINE_ATOMIC does not exist on the Ascend 910B; on a LocalTensor, which the scalar unit sees directly, it does nothing.
 */
#ifndef PITON_ASCENDC_CACHE_H
#define PITON_ASCENDC_CACHE_H

#include "tensor.h"
#include "vector.h"

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

template <typename T>
PITON_API vnpu_operand WordOperand(__gm__ T *address) {
    vnpu_operand operand{};
    operand.addr = reinterpret_cast<uint64_t>(address);
    operand.limit = UINT32_MAX;
    operand.space = VNPU_SPACE_GM;
    operand.dtype = kDtype<T>;
    return operand;
}

}  // namespace piton

#define PITON_REQUIRE_WORD(api)                                                                                             \
    PITON_REQUIRE_TYPE(api, (piton::kIsOneOf<T, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>), \
                       "int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t")

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

/* Global memory past the data cache. */
template <typename T>
PITON_API T ReadGmByPassDCache(__gm__ T *addr, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_WORD("ReadGmByPassDCache");
    vnpu_record record = piton::MakeNote(VNPU_OP_PAST_CACHE_LOAD, at, sizeof(T));
    record.src0 = piton::WordOperand(addr);
    return piton::FromBits<T>(piton::Fetch(record));
}

template <typename T>
PITON_API void WriteGmByPassDCache(__gm__ T *addr, T value, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_WORD("WriteGmByPassDCache");
    vnpu_record record = piton::MakeNote(VNPU_OP_PAST_CACHE_STORE, at, sizeof(T));
    record.dst = piton::WordOperand(addr);
    record.scalar = piton::ToBits(value);
    piton::Submit(record);
}

/* Which memory's accesses by the scalar unit have to be complete. */
enum class MemDsbT : uint8_t { ALL = 0, DDR, UB, SEQ };

/* The scalar unit's accesses take effect in program order here, so that there is nothing to wait for; what it costs is not published. */
template <MemDsbT arg0>
PITON_API void DataSyncBarrier() {
    static_assert(arg0 <= MemDsbT::SEQ, "DataSyncBarrier takes MemDsbT::ALL, DDR, UB or SEQ");
}

}  // namespace AscendC

#undef PITON_REQUIRE_WORD

/* The compiler's older name, which public kernels use. */
#define PRELOAD(length) ::AscendC::ICachePreLoad(length)

#endif /* PITON_ASCENDC_CACHE_H */
