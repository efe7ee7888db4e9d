/*
 * MatmulConfig and the functions that make one: which template of the Matmul object a kernel asks for.
 *
 * Problem: kernels name the vendor's structures, enumerations and functions, and fill structures in by position.
 * Approach: the same names, order and defaults (pages of MatmulConfig, GetMMConfig and the getters). Names that the vendor keeps outside of namespaces are
 * there, and in AscendC too.
 * Limits: what is honoured is said in docs/ascendc-api.md; what makes another chip faster is accepted and changes nothing.
 */
#ifndef PITON_ASCENDC_MATMUL_CONFIG_H
#define PITON_ASCENDC_MATMUL_CONFIG_H

#include <type_traits>

#include "../macros.h"

enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR, ROW_MAJOR = ND, COLUMN_MAJOR = 8 };
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT };
enum IterateMode : uint8_t {
    ITERATE_MODE_NORMAL = 1,
    ITERATE_MODE_ALL = 2,
    ITERATE_MODE_BATCH = 4,
    ITERATE_MODE_N_BATCH = 8,
    ITERATE_MODE_DEFAULT = 255,
};
enum class DecompressionMode { DECOMP_NONE = 0 };

struct MatmulConfig {
    bool doNorm = false;
    bool doBasicBlock = false;
    bool doMultiDataLoad = false; /* L1 is filled by large pieces, stepM x stepKa and stepN x stepKb base blocks at a time */
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
    bool intrinsicsCheck = false; /* rows of more than 65535 elements are loaded one by one */
    bool isNBatch = false;
    bool enVecND2NZ = false;
    bool doSpecialBasicBlock = false;
    uint32_t doMTE2Preload = 0;
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t stepM = 0;
    uint32_t stepN = 0;
    uint32_t baseMN = 0;
    uint32_t singleCoreMN = 0;
    bool enUnitFlag = true;
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
    bool doIBShareNorm = false;
    bool doSpecialMDL = false;
    bool enableInit = true;
    BatchMode batchMode = BatchMode::NONE;
    bool enableEnd = true;
    bool enableGetTensorC = true;
    bool enableSetOrgShape = true;
    bool enableSetBias = true;
    bool enableSetTail = true;
    bool enableQuantVector = true;
    bool enableSetDefineData = true;
    uint8_t iterateMode = IterateMode::ITERATE_MODE_DEFAULT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool enableL1CacheUB = false;
    bool intraBlockPartSum = false;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableDoubleCache = false;
    bool isBiasBatch = true;
    bool enableStaticPadZeros = false;
    bool isPartialOutput = false;
    bool enableMixDualMaster = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool isCO1Shared = false;
    uint32_t sharedCO1BufferSize = 64 * 1024;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
    DecompressionMode decompMode = DecompressionMode::DECOMP_NONE;
};

enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

struct MatmulShapeParams {
    uint32_t singleCoreM = 0;
    uint32_t singleCoreN = 0;
    uint32_t singleCoreK = 0;
    uint32_t basicM = 0;
    uint32_t basicN = 0;
    uint32_t basicK = 0;
};

struct MatmulQuantParams {
    bool isPerTensor = false;
    bool hasAntiQuantOffset = false;
};

struct MatmulBatchParams {
    bool isNBatch = false;
    BatchMode batchMode = BatchMode::NONE;
    bool isBiasBatch = true;
    BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};

struct MatmulFuncParams {
    bool intrinsicsCheck = false;
    bool enVecND2NZ = false;
    bool enableDoubleCache = false;
    bool enableL1CacheUB = false;
    uint32_t doMTE2Preload = 0;
    IterateOrder iterateOrder = IterateOrder::UNDEF;
    ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
    bool enableReuse = true;
    bool enableUBReuse = false;
    bool isPartialOutput = false;
    bool isA2B2Shared = false;
    bool isEnableChannelSplit = false;
    bool enableKdimReorderLoad = false;
    bool enableL1BankConflictOptimise = false;
    bool enableRelu = false;
    DecompressionMode decompMode = DecompressionMode::DECOMP_NONE;
};

struct MatmulBiasParams {
    bool enableSetBias = true;
};

/* Where the result of the last Iterate lies in the core's part of C: the vendor's page calls it reserved. */
struct MatrixOffset {
    int32_t offset;
    int32_t row;
    int32_t col;
    int32_t height;
    int32_t width;
};

PITON_API constexpr MatmulConfig GetNormalConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
                                                 const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
                                                 const IterateOrder iterateOrder = IterateOrder::UNDEF,
                                                 const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, const bool enUnitFlag = true,
                                                 const bool enableMixDualMaster = false, const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
    MatmulConfig config;
    config.doNorm = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.enVecND2NZ = isVecND2NZ;
    config.batchMode = bmmMode;
    config.enableReuse = isMsgReuse;
    config.iterateOrder = iterateOrder;
    config.scheduleType = scheduleType;
    config.enUnitFlag = enUnitFlag;
    config.enableMixDualMaster = enableMixDualMaster;
    config.bmmOutMode = bmmOutMode;
    config.enableUBReuse = true;
    return config;
}

PITON_API constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
                                              const bool isVecND2NZ = false, bool isPerTensor = false, bool hasAntiQuantOffset = false,
                                              const bool enUnitFlag = false, const bool isMsgReuse = true, const bool enableUBReuse = true,
                                              const bool enableL1CacheUB = false, const bool enableMixDualMaster = false,
                                              const bool enableKdimReorderLoad = false, const bool enableL1BankConflictOptimise = false) {
    MatmulConfig config;
    config.doMultiDataLoad = true;
    config.intrinsicsCheck = intrinsicsLimit;
    config.isNBatch = batchLoop;
    config.doMTE2Preload = doMTE2Preload;
    config.enVecND2NZ = isVecND2NZ;
    config.isPerTensor = isPerTensor;
    config.hasAntiQuantOffset = hasAntiQuantOffset;
    config.enUnitFlag = enUnitFlag;
    config.enableReuse = isMsgReuse;
    config.enableUBReuse = enableUBReuse;
    config.enableL1CacheUB = enableL1CacheUB;
    config.enableMixDualMaster = enableMixDualMaster;
    config.enableKdimReorderLoad = enableKdimReorderLoad;
    config.enableL1BankConflictOptimise = enableL1BankConflictOptimise;
    return config;
}

PITON_API constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
                                                     const bool isVecND2NZ = false, bool isPerTensor = false, bool hasAntiQuantOffset = false) {
    MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ, isPerTensor, hasAntiQuantOffset);
    config.doMultiDataLoad = false;
    config.doSpecialMDL = true;
    return config;
}

PITON_API constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
                                                      const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isDoubleCache = false,
                                                      const bool enUnitFlag = true) {
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
    config.doNorm = false;
    config.doIBShareNorm = true;
    config.enableDoubleCache = isDoubleCache;
    config.enUnitFlag = enUnitFlag;
    return config;
}

PITON_API constexpr MatmulConfig GetBasicConfig(const uint32_t basicM, const uint32_t basicN, const uint32_t basicK, const bool intrinsicsLimit = false,
                                                const bool batchLoop = false, const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, false, bmmMode);
    config.doNorm = false;
    config.doBasicBlock = true;
    config.enUnitFlag = false;
    config.basicM = basicM;
    config.basicN = basicN;
    config.basicK = basicK;
    return config;
}

PITON_API constexpr MatmulConfig GetSpecialBasicConfig(const MatmulShapeParams &shape, const uint32_t stepM, const uint32_t stepN,
                                                       const bool intrinsicsLimit = false, const bool batchLoop = false,
                                                       const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
    MatmulConfig config = GetBasicConfig(shape.basicM, shape.basicN, shape.basicK, intrinsicsLimit, batchLoop, bmmMode);
    config.doSpecialBasicBlock = true;
    config.singleCoreM = shape.singleCoreM;
    config.singleCoreN = shape.singleCoreN;
    config.singleCoreK = shape.singleCoreK;
    config.stepM = stepM;
    config.stepN = stepN;
    config.baseMN = shape.basicM * shape.basicN;
    config.singleCoreMN = shape.singleCoreM * shape.singleCoreN;
    return config;
}

inline constexpr MatmulConfig CFG_NORM = GetNormalConfig();
inline constexpr MatmulConfig CFG_MDL = GetMDLConfig();
inline constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);
inline constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();

#endif /* PITON_ASCENDC_MATMUL_CONFIG_H */
