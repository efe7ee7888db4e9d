#pragma once
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ScaledAddTiling)
TILING_DATA_FIELD_DEF(uint16_t, padding);
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF(float, alpha);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 2, perBlock);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaledAdd, ScaledAddTiling)
}  // namespace optiling
