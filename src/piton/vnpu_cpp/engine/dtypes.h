/* Sizes of element types. */
#pragma once

#include <cstdint>

#include "vnpu/abi.h"

namespace vnpu {

// 0 when unknown or not a whole number of bytes.
inline uint32_t dtype_bytes(uint8_t dtype) {
    switch (dtype) {
        case VNPU_DT_I8:
        case VNPU_DT_U8:
        case VNPU_DT_BOOL:
            return 1;
        case VNPU_DT_F16:
        case VNPU_DT_BF16:
        case VNPU_DT_I16:
        case VNPU_DT_U16:
            return 2;
        case VNPU_DT_F32:
        case VNPU_DT_I32:
        case VNPU_DT_U32:
            return 4;
        case VNPU_DT_I64:
        case VNPU_DT_U64:
        case VNPU_DT_F64:
            return 8;
        default:
            return 0;
    }
}

}  // namespace vnpu
