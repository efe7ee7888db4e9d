/*
 * What describes a Matmul object at compile time: MatmulType of each matrix, constant tilings, callbacks, policies.
 *
 * Problem: one template parameter is a MatmulConfig or a MatmulApiStaticTiling, both by reference to a constant.
 * Approach: constexpr functions turn either into a configuration and, for constant tilings, into the numbers that replace those of the run-time tiling.
 * Limits: policies of a kernel's own are refused.
 */
#ifndef PITON_ASCENDC_MATMUL_TYPES_H
#define PITON_ASCENDC_MATMUL_TYPES_H

#include "../enums.h"
#include "../tensor.h"
#include "config.h"
#include "cube_tiling.h"

namespace piton {

PITON_API constexpr void Apply(MatmulConfig &config, const MatmulShapeParams &shape) {
    config.singleCoreM = shape.singleCoreM;
    config.singleCoreN = shape.singleCoreN;
    config.singleCoreK = shape.singleCoreK;
    config.basicM = shape.basicM;
    config.basicN = shape.basicN;
    config.basicK = shape.basicK;
}
PITON_API constexpr void Apply(MatmulConfig &config, const MatmulQuantParams &quant) {
    config.isPerTensor = quant.isPerTensor;
    config.hasAntiQuantOffset = quant.hasAntiQuantOffset;
}
PITON_API constexpr void Apply(MatmulConfig &config, const MatmulBatchParams &batch) {
    config.isNBatch = batch.isNBatch;
    config.batchMode = batch.batchMode;
    config.isBiasBatch = batch.isBiasBatch;
    config.bmmOutMode = batch.bmmOutMode;
}
PITON_API constexpr void Apply(MatmulConfig &config, const MatmulBiasParams &bias) { config.enableSetBias = bias.enableSetBias; }
PITON_API constexpr void Apply(MatmulConfig &config, const MatmulFuncParams &func) {
    config.intrinsicsCheck = func.intrinsicsCheck;
    config.enVecND2NZ = func.enVecND2NZ;
    config.enableDoubleCache = func.enableDoubleCache;
    config.enableL1CacheUB = func.enableL1CacheUB;
    config.doMTE2Preload = func.doMTE2Preload;
    config.iterateOrder = func.iterateOrder;
    config.scheduleType = func.scheduleType;
    config.enableReuse = func.enableReuse;
    config.enableUBReuse = func.enableUBReuse;
    config.isPartialOutput = func.isPartialOutput;
    config.isA2B2Shared = func.isA2B2Shared;
    config.isEnableChannelSplit = func.isEnableChannelSplit;
    config.enableKdimReorderLoad = func.enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = func.enableL1BankConflictOptimise;
    config.enableRelu = func.enableRelu;
}

}  // namespace piton

template <MatmulConfigMode configMode, typename... ArgTypes>
PITON_API constexpr MatmulConfig GetMMConfig(ArgTypes &&...args) {
    MatmulConfig config = configMode == MatmulConfigMode::CONFIG_NORM         ? GetNormalConfig()
                          : configMode == MatmulConfigMode::CONFIG_MDL        ? GetMDLConfig()
                          : configMode == MatmulConfigMode::CONFIG_SPECIALMDL ? GetSpecialMDLConfig()
                                                                              : GetIBShareNormConfig();
    (piton::Apply(config, args), ...);
    return config;
}

namespace AscendC {

using ::BatchMode;
using ::BatchOutMode;
using ::CubeFormat;
using ::GetBasicConfig;
using ::GetIBShareNormConfig;
using ::GetMDLConfig;
using ::GetMMConfig;
using ::GetNormalConfig;
using ::GetSpecialBasicConfig;
using ::GetSpecialMDLConfig;
using ::IterateMode;
using ::IterateOrder;
using ::LayoutMode;
using ::MatmulBatchParams;
using ::MatmulBiasParams;
using ::MatmulConfig;
using ::MatmulConfigMode;
using ::MatmulFuncParams;
using ::MatmulQuantParams;
using ::MatmulShapeParams;
using ::MatrixOffset;
using ::ScheduleType;

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false,
          TPosition SRCPOS = TPosition::GM>
struct MatmulType {
    constexpr static TPosition pos = POSITION;
    constexpr static CubeFormat format = FORMAT;
    using T = TYPE;
    constexpr static bool isTrans = ISTRANS;
    constexpr static LayoutMode layout = LAYOUT;
    constexpr static bool ibShare = IBSHARE;
    constexpr static TPosition srcPos = SRCPOS;
};

/* A tiling that is known when the kernel is compiled, with the configuration it goes with. Numbers that are 0 come from the run-time tiling. */
struct MatmulApiStaticTiling : public tiling::TCubeTiling {
    MatmulConfig cfg = CFG_NORM;
};

/*
 * A constant tiling for base blocks (and, where the configuration says them, parts) that are known: as many steps of k in L1 as two buffers of both
 * matrices allow. M, N and K of the whole matrices stay those of the run-time tiling or of SetOrgShape.
 */
template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE>
PITON_API constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig &mmCFG, int32_t l1Size = 512 * 1024) {
    MatmulApiStaticTiling tiling;
    tiling.cfg = mmCFG;
    const int32_t baseM = static_cast<int32_t>(mmCFG.basicM), baseN = static_cast<int32_t>(mmCFG.basicN), baseK = static_cast<int32_t>(mmCFG.basicK);
    if (baseM == 0 || baseN == 0 || baseK == 0) {
        return tiling;
    }
    const int32_t room = l1Size - baseN * 4, perStep = 2 * (baseM + baseN) * baseK * static_cast<int32_t>(sizeof(typename A_TYPE::T));
    const int32_t steps = mmCFG.singleCoreK == 0 ? 1 : (static_cast<int32_t>(mmCFG.singleCoreK) + baseK - 1) / baseK;
    const int32_t fits = room / perStep < 1 ? 1 : room / perStep;
    tiling.baseM = baseM;
    tiling.baseN = baseN;
    tiling.baseK = baseK;
    tiling.singleCoreM = static_cast<int32_t>(mmCFG.singleCoreM);
    tiling.singleCoreN = static_cast<int32_t>(mmCFG.singleCoreN);
    tiling.singleCoreK = static_cast<int32_t>(mmCFG.singleCoreK);
    tiling.stepM = tiling.stepN = 1;
    tiling.stepKa = tiling.stepKb = steps < fits ? steps : fits;
    tiling.depthA1 = tiling.depthB1 = 2 * tiling.stepKa;
    tiling.dbL0A = tiling.dbL0B = 2;
    tiling.dbL0C = 1;
    return tiling;
}

/* The configuration that an object's template parameter stands for. */
PITON_API constexpr MatmulConfig ToMatmulConfig(const MatmulConfig &cfg) { return cfg; }
PITON_API constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling &cfg) { return cfg.cfg; }

/* Functions of the kernel that replace the loads of base blocks and the way out of results. */
template <void (*DataCopyOut)(const __gm__ void *gm, const LocalTensor<int8_t> &co1Local, const void *dataCopyOutParams, const uint64_t tilingPtr,
                              const uint64_t dataPtr) = nullptr,
          void (*CopyA1)(const LocalTensor<int8_t> &aMatrix, const __gm__ void *gm, int row, int col, int useM, int useK, const uint64_t tilingPtr,
                         const uint64_t dataPtr) = nullptr,
          void (*CopyB1)(const LocalTensor<int8_t> &bMatrix, const __gm__ void *gm, int row, int col, int useK, int useN, const uint64_t tilingPtr,
                         const uint64_t dataPtr) = nullptr>
struct MatmulCallBackFunc {
    constexpr static auto DataCopyOutPtr = DataCopyOut;
    constexpr static auto CopyA1Ptr = CopyA1;
    constexpr static auto CopyB1Ptr = CopyB1;
};

/* What a DataCopyOut callback is given, as the vendor's page defines it. */
struct DataCopyOutParams {
    uint16_t cBurstNum;
    uint16_t burstLen;
    uint16_t srcStride;
    uint32_t dstStride;
    uint16_t oriNSize;
    bool enUnitFlag;
    uint64_t quantScalar;
    uint64_t cbufWorkspaceAddr;
};

/* Type of the sums of products. */
template <typename T>
struct GetMmDstType {
    using Type = std::conditional_t<std::is_same<T, int8_t>::value || std::is_same<T, int4b_t>::value, int32_t, float>;
};

/* Division of whole numbers that rounds up, which kernels take from this header. */
template <typename A, typename B, typename = std::enable_if_t<std::is_integral<A>::value && std::is_integral<B>::value>>
PITON_API constexpr auto Ceil(const A &num1, const B &num2) -> decltype(num1 / num2) {
    return num2 == 0 ? 0 : (num1 + num2 - 1) / num2;
}

namespace Impl {

constexpr int32_t QUEUE_DEPTH = 1; /* public kernels take it for queues beside an object */

namespace Detail {

template <const auto &MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE>
struct MatmulPolicy {};
template <const auto &MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE>
struct NBuffer33MatmulPolicy {};
/* Only base blocks on the diagonal and above it, or below it, are computed. */
template <const auto &MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE>
struct TrianUpperMatmulPolicy {};
template <const auto &MM_CFG, typename IMPL, typename A_TYPE, typename B_TYPE, typename C_TYPE>
struct TrianLowerMatmulPolicy {};

}  // namespace Detail
}  // namespace Impl

#define MATMUL_POLICY_DEFAULT_OF(DEFAULT)                           \
    template <const auto &, typename, typename, typename, typename> \
    class MATMUL_POLICY = AscendC::Impl::Detail::DEFAULT

}  // namespace AscendC

/* Names that the vendor has outside of the namespace, too. */
using AscendC::GetMatmulApiTiling;
using AscendC::MatmulApiStaticTiling;

namespace piton {

PITON_API constexpr MatmulConfig ConfigOf(const MatmulConfig &config) { return config; }
PITON_API constexpr MatmulConfig ConfigOf(const AscendC::MatmulApiStaticTiling &tiling) { return tiling.cfg; }

PITON_API constexpr void Prefer(int32_t constant, int32_t &value) {
    if (constant > 0) {
        value = constant;
    }
}

constexpr int32_t kMaybeBias = -1; /* isBias of a constant tiling, which does not say whether one comes */

/* Without a run-time tiling the part is the whole until SetOrgShape, and a bias may come. */
PITON_API constexpr void Complete(const MatmulConfig &config, TCubeTiling &tiling) {
    tiling.M = tiling.singleCoreM;
    tiling.N = tiling.singleCoreN;
    tiling.Ka = tiling.Kb = tiling.singleCoreK;
    tiling.isBias = config.enableSetBias && tiling.baseN <= 256 ? kMaybeBias : 0;
}

/* Numbers that the configuration fixes take the place of those of the tiling. */
PITON_API constexpr void Override(const MatmulConfig &config, TCubeTiling &tiling) {
    Prefer(static_cast<int32_t>(config.basicM), tiling.baseM);
    Prefer(static_cast<int32_t>(config.basicN), tiling.baseN);
    Prefer(static_cast<int32_t>(config.basicK), tiling.baseK);
    Prefer(static_cast<int32_t>(config.singleCoreM), tiling.singleCoreM);
    Prefer(static_cast<int32_t>(config.singleCoreN), tiling.singleCoreN);
    Prefer(static_cast<int32_t>(config.singleCoreK), tiling.singleCoreK);
    Prefer(static_cast<int32_t>(config.stepM), tiling.stepM);
    Prefer(static_cast<int32_t>(config.stepN), tiling.stepN);
}
PITON_API constexpr void Override(const AscendC::MatmulApiStaticTiling &constants, TCubeTiling &tiling) {
    Override(constants.cfg, tiling);
#define PITON_FIELD(name) Prefer(constants.name, tiling.name);
    PITON_CUBE_TILING_FIELDS(PITON_FIELD)
#undef PITON_FIELD
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_TYPES_H */
