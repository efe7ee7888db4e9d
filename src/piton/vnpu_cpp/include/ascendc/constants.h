/*
 * Figures of the chip that kernels write by name, and AscendCUtils.
 *
 * Problem: the vendor's headers have these names besides the documented ones, and public kernels use them.
 * Approach: their values, as public kernels and headers say them; AscendCUtils::SetMask is SetVectorMask for the first lanes.
 * Limits: of AscendCUtils what public kernels for the Ascend 910B call.
 */
#ifndef PITON_ASCENDC_CONSTANTS_H
#define PITON_ASCENDC_CONSTANTS_H

#include "registers.h"
#include "sync.h"

namespace AscendC {

const uint8_t B8_BYTE_SIZE = 1;
const uint8_t B16_BYTE_SIZE = 2;
const uint8_t B32_BYTE_SIZE = 4;
const uint8_t B64_BYTE_SIZE = 8;
const uint16_t ONE_BLK_SIZE = 32;
const uint32_t ONE_BLK_HALF_NUM = ONE_BLK_SIZE / B16_BYTE_SIZE;
const uint32_t ONE_BLK_FLOAT_NUM = ONE_BLK_SIZE / B32_BYTE_SIZE;
const int32_t ONE_REPEAT_BYTE_SIZE = 256;
const int32_t MAX_REPEAT_TIMES = 255;
const int32_t DEFAULT_BLK_NUM = 8;
const int32_t BRCB_BROADCAST_NUMBER = 8;
const int32_t DEFAULT_BLK_STRIDE = 1;
const uint8_t DEFAULT_REPEAT_STRIDE = 8;
const uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
const uint8_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = 2;
const uint16_t DEFAULT_DATA_COPY_NBURST = 1;
const uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
const int32_t DEFAULT_C0_SIZE = 32;
const uint32_t TOTAL_L1_SIZE = 512 * 1024;
const uint32_t TOTAL_L0A_SIZE = 64 * 1024;
const uint32_t TOTAL_L0B_SIZE = 64 * 1024;
const uint32_t TOTAL_L0C_SIZE = 128 * 1024;
const uint32_t TOTAL_UB_SIZE = 192 * 1024;
const int32_t BLOCK_CUBE = 16;
const uint64_t FULL_MASK = 0xffffffffffffffff;

PITON_API constexpr int16_t GetDataBlockSizeInBytes() { return ONE_BLK_SIZE; }

/* Older kernels set masks by it. */
struct AscendCUtils {
    template <typename T>
    PITON_API static void SetMask(int32_t len, piton::Location at = piton::Location()) {
        SetVectorMask<T>(len, at);
    }
    PITON_API static void ResetMask(piton::Location at = piton::Location()) { AscendC::ResetMask(at); }
    /* 1: infinities and NaNs of halves are kept, as at the start of a kernel; 0: they are cut to the largest number. */
    PITON_API static void SetOverflow(uint64_t ctrlValue, piton::Location at = piton::Location()) {
        SetCtrlSpr<piton::kFloatSaturationBit, piton::kFloatSaturationBit>(ctrlValue == 1 ? 1 : 0, at);
    }
    PITON_API static int32_t GetC0Count(const int32_t dtypeSize) { return DEFAULT_C0_SIZE / dtypeSize; }
};

}  // namespace AscendC

#endif /* PITON_ASCENDC_CONSTANTS_H */
