/*
 * MatmulApiTiling, MultiCoreMatmulTiling, BatchMatmulTiling: the vendor's classes, in front of the search.
 *
 * Problem: host code calls setters in any order and then GetTiling, into either form of TCubeTiling.
 * Approach: the setters fill one Request; GetTiling solves it. Where there is no tiling it returns -1 and says why on standard error.
 * Limits: settings for other chips, sparse matrices and microscaling are taken and change nothing. A kernel of an operator project, for which element types
 * are macros (piton_project/kernel_numbers.h), has no use for the classes and sees the structure alone.
 */
#ifndef PITON_MATMUL_CLASSES_H
#define PITON_MATMUL_CLASSES_H

#if defined(PITON_PROJECT_KERNEL_NUMBERS_H)
#include "ascendc/matmul/cube_tiling.h"
#else

#include <iostream> /* programs rely on it, as on vector and map, which the definition of tiling data has */

#include "cube_tiling_host.h"
#include "platform/platform_ascendc.h"
#include "solve.h"

namespace matmul_tiling {

struct PlatformInfo {
    platform_ascendc::SocVersion socVersion = platform_ascendc::SocVersion::ASCEND910B;
    uint64_t l1Size = 0;
    uint64_t l0CSize = 0;
    uint64_t ubSize = 0;
    uint64_t l0ASize = 0;
    uint64_t l0BSize = 0;
};

class MatmulApiTilingBase {
public:
    MatmulApiTilingBase() : MatmulApiTilingBase(platform_ascendc::PlatformAscendC()) {}
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &platform) {
        using M = platform_ascendc::CoreMemType;
        request_.room = {SizeOf(platform, M::L1, 512 * 1024), SizeOf(platform, M::L0_A, 64 * 1024), SizeOf(platform, M::L0_B, 64 * 1024),
                         SizeOf(platform, M::L0_C, 128 * 1024), SizeOf(platform, M::BT, 1024)};
        whole_ = request_.room;
    }
    explicit MatmulApiTilingBase(const PlatformInfo &platform) {
        const auto said = [](uint64_t size, int64_t otherwise) { return size == 0 ? otherwise : static_cast<int64_t>(size); };
        request_.room = {said(platform.l1Size, 512 * 1024), said(platform.l0ASize, 64 * 1024), said(platform.l0BSize, 64 * 1024),
                         said(platform.l0CSize, 128 * 1024), 1024};
        whole_ = request_.room;
    }
    virtual ~MatmulApiTilingBase() = default;

    int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) { return Set(request_.a, {pos, type, dataType, isTrans}); }
    int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false) { return Set(request_.b, {pos, type, dataType, isTrans}); }
    int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType) { return Set(request_.c, {pos, type, dataType, false}); }
    int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType) { return Set(request_.bias, {pos, type, dataType, false}); }
    int32_t SetScaleAType(TPosition, CubeFormat, bool = false) { return 0; }
    int32_t SetScaleBType(TPosition, CubeFormat, bool = true) { return 0; }
    int32_t SetDequantType(DequantType) { return 0; }
    virtual int32_t SetShape(int32_t m, int32_t n, int32_t k) { return Set(request_.shape, {m, n, k}); }
    int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKIn) { return SetOrgShape(orgMIn, orgNIn, orgKIn, orgKIn); }
    int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKaIn, int32_t orgKbIn) {
        request_.orgKb = orgKbIn;
        return Set(request_.org, {orgMIn, orgNIn, orgKaIn});
    }
    int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(layouts_[0], {b, s, n, g, d}); }
    int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(layouts_[1], {b, s, n, g, d}); }
    int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d) { return Set(layouts_[2], {b, s, n, g, d}); }
    int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k) {
        SetALayout(batchA, m, 1, 1, k);
        SetBLayout(batchB, n, 1, 1, k);
        return SetCLayout(batchA > batchB ? batchA : batchB, m, 1, 1, n);
    }
    int32_t SetBatchNum(int32_t batch) {
        batch_ = batch;
        return 0;
    }
    int32_t EnableBias(bool isBiasIn = false) {
        request_.hasBias = isBiasIn;
        return 0;
    }
    int32_t SetBias(bool isBiasIn = false) { return EnableBias(isBiasIn); }
    int32_t SetFixSplit(int32_t baseMIn = -1, int32_t baseNIn = -1, int32_t baseKIn = -1) { return Set(request_.base, {baseMIn, baseNIn, baseKIn}); }
    int32_t SetBufferSpace(int32_t l1Size = -1, int32_t l0CSize = -1, int32_t ubSize = -1, int32_t btSize = -1) {
        (void)ubSize;
        request_.room.l1 = l1Size < 0 ? whole_.l1 : l1Size;
        request_.room.l0c = l0CSize < 0 ? whole_.l0c : l0CSize;
        request_.room.biasTable = btSize < 0 ? whole_.biasTable : btSize;
        return 0;
    }
    int32_t SetTraverse(MatrixTraverse traverse) {
        request_.traverse = traverse;
        return 0;
    }
    int32_t SetMadType(MatrixMadType) { return 0; }
    int32_t SetSplitRange(int32_t maxBaseM = -1, int32_t maxBaseN = -1, int32_t maxBaseK = -1, int32_t minBaseM = -1, int32_t minBaseN = -1,
                          int32_t minBaseK = -1) {
        Set(request_.mostBase, {maxBaseM, maxBaseN, maxBaseK});
        return Set(request_.leastBase, {minBaseM, minBaseN, minBaseK});
    }
    int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
    void SetMatmulConfigParams(int32_t = 1, bool = false, ScheduleType scheduleTypeIn = ScheduleType::INNER_PRODUCT,
                               MatrixTraverse traverseIn = MatrixTraverse::NOSET, bool = false) {
        request_.isEven = scheduleTypeIn == ScheduleType::N_BUFFER_33;
        request_.traverse = traverseIn == MatrixTraverse::NOSET ? request_.traverse : traverseIn;
    }
    void SetMatmulConfigParams(const MatmulConfigParams &configParams) { SetMatmulConfigParams(1, false, configParams.scheduleType, configParams.traverse); }
    int32_t SetSparse(bool = false) { return 0; }
    bool EnableL1BankConflictOptimise() { return false; }

    int32_t GetBaseM() const { return answer_.tiling.baseM; }
    int32_t GetBaseN() const { return answer_.tiling.baseN; }
    int32_t GetBaseK() const { return answer_.tiling.baseK; }

    /* -1 where there is no tiling. */
    virtual int64_t GetTiling(AscendC::tiling::TCubeTiling &tiling) {
        answer_ = piton_matmul::Solver(Asked()).Solve();
        if (!answer_.problem.empty()) {
            std::fprintf(stderr, "matmul_tiling: %s\n", answer_.problem.c_str());
            return -1;
        }
        AddLayouts(answer_.tiling);
        tiling = answer_.tiling;
        return 0;
    }
    virtual int64_t GetTiling(optiling::TCubeTiling &tiling) {
        AscendC::tiling::TCubeTiling plain;
        if (GetTiling(plain) != 0) {
            return -1;
        }
        piton_matmul::Copy(plain, tiling);
        return 0;
    }

protected:
    /* The question as this class puts it. */
    virtual const piton_matmul::Request &Asked() {
        request_.cores = 1;
        return request_;
    }

    template <typename T>
    static int32_t Set(T &to, const T &value) {
        to = value;
        return 0;
    }

    piton_matmul::Request request_;
    piton_matmul::Answer answer_;

private:
    struct Layout {
        int32_t b, s, n, g, d;
    };

    static int64_t SizeOf(const platform_ascendc::PlatformAscendC &platform, platform_ascendc::CoreMemType memory, int64_t otherwise) {
        uint64_t size = 0;
        platform.GetCoreMemSize(memory, size);
        return size == 0 ? otherwise : static_cast<int64_t>(size);
    }
    void AddLayouts(AscendC::tiling::TCubeTiling &tiling) const {
        const Layout &a = layouts_[0], &b = layouts_[1], &c = layouts_[2];
        tiling.ALayoutInfoB = a.b, tiling.ALayoutInfoS = a.s, tiling.ALayoutInfoN = a.n, tiling.ALayoutInfoG = a.g, tiling.ALayoutInfoD = a.d;
        tiling.BLayoutInfoB = b.b, tiling.BLayoutInfoS = b.s, tiling.BLayoutInfoN = b.n, tiling.BLayoutInfoG = b.g, tiling.BLayoutInfoD = b.d;
        tiling.CLayoutInfoB = c.b, tiling.CLayoutInfoS1 = c.s, tiling.CLayoutInfoN = c.n, tiling.CLayoutInfoG = c.g, tiling.CLayoutInfoS2 = c.d;
        tiling.BatchNum = batch_;
    }

    piton_matmul::Room whole_;
    Layout layouts_[3] = {};
    int32_t batch_ = 0;
};

/* One core. */
class MatmulApiTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase {
public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t dim) { return Set(dim_, dim); }
    virtual int32_t SetSingleShape(int32_t singleMIn = -1, int32_t singleNIn = -1, int32_t singleKIn = -1) {
        return Set(request_.single, {singleMIn, singleNIn, singleKIn});
    }
    virtual int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1, int32_t minM = -1, int32_t minN = -1, int32_t minK = -1) {
        Set(request_.mostSingle, {maxM, maxN, maxK});
        return Set(request_.leastSingle, {minM, minN, minK});
    }
    int32_t SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK) { return Set(request_.alignSingle, {alignM, alignN, alignK}); }
    void EnableMultiCoreSplitK(bool flag) { request_.splitsK = flag; }
    void SetSplitK(bool flag) { EnableMultiCoreSplitK(flag); }
    int32_t GetSingleShape(int32_t &shapeM, int32_t &shapeN, int32_t &shapeK) {
        shapeM = answer_.tiling.singleCoreM;
        shapeN = answer_.tiling.singleCoreN;
        shapeK = answer_.tiling.singleCoreK;
        return shapeM > 0 ? 0 : -1;
    }
    int32_t GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim) {
        dim = answer_.tiling.usedCoreNum;
        mDim = static_cast<int32_t>(answer_.partsM);
        nDim = static_cast<int32_t>(answer_.partsN);
        return dim > 0 ? 0 : -1;
    }

protected:
    const piton_matmul::Request &Asked() override {
        request_.cores = dim_ < 1 ? 1 : dim_;
        return request_;
    }

private:
    int32_t dim_ = 1;
};

class BatchMatmulTiling : public MultiCoreMatmulTiling {
public:
    using MultiCoreMatmulTiling::MultiCoreMatmulTiling;

    int32_t GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim, int32_t &batchCoreM, int32_t &batchCoreN) {
        batchCoreM = batchCoreN = 1;
        return MultiCoreMatmulTiling::GetCoreNum(dim, mDim, nDim);
    }
};

}  // namespace matmul_tiling

namespace piton_matmul {

inline int32_t UsedBytes(const AscendC::tiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &bufSize) {
    bufSize = {tiling.shareUbSize, tiling.shareL1Size, tiling.shareL0CSize};
    return 0;
}

}  // namespace piton_matmul

#define PITON_BUFFER_SIZES(Name)                                                                                  \
    inline int32_t Name(optiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &bufSize) {            \
        return piton_matmul::UsedBytes(piton_matmul::Plain(tiling), bufSize);                                     \
    }                                                                                                             \
    inline int32_t Name##V2(AscendC::tiling::TCubeTiling &tiling, matmul_tiling::SysTilingTempBufSize &bufSize) { \
        return piton_matmul::UsedBytes(tiling, bufSize);                                                          \
    }
PITON_BUFFER_SIZES(MatmulGetTmpBufSize)
PITON_BUFFER_SIZES(MultiCoreMatmulGetTmpBufSize)
PITON_BUFFER_SIZES(BatchMatmulGetTmpBufSize)
#undef PITON_BUFFER_SIZES

#endif
#endif /* PITON_MATMUL_CLASSES_H */
