/*
 * Fill and InitConstValue: one value all over a part of L1, L0A or L0B.
 *
 * Problem and approach: blocks have 32 bytes in L1 and 512 in L0A and L0B; the record counts bytes.
 * Limits: none known.
 */
#ifndef PITON_ASCENDC_CUBE_FILL_H
#define PITON_ASCENDC_CUBE_FILL_H

#include "cube.h"

namespace AscendC {

template <typename T>
struct InitConstValueParams {
    PITON_API InitConstValueParams() {}
    PITON_API InitConstValueParams(piton::Narrow<uint16_t> repeats, piton::Narrow<uint16_t> blocks, piton::Narrow<uint16_t> gap, const T value,
                                   piton::Location at = piton::Location())
        : repeatTimes(repeats.Get("InitConstValueParams", 0, at)),
          blockNum(blocks.Get("InitConstValueParams", 1, at)),
          dstGap(gap.Get("InitConstValueParams", 2, at)),
          initValue(value) {}
    PITON_API InitConstValueParams(piton::Narrow<uint16_t> repeats, const T value, piton::Location at = piton::Location())
        : InitConstValueParams(repeats, 1, 0, value, at) {}

    uint16_t repeatTimes = 0;
    uint16_t blockNum = 0; /* of 32 bytes in L1, of 512 in L0A and L0B, as the gap */
    uint16_t dstGap = 0;   /* end to start */
    T initValue = T();
};

template <typename T>
PITON_API void Fill(const LocalTensor<T> &dst, const InitConstValueParams<T> &initConstValueParams, piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("Fill on chip", (piton::kIsOneOf<T, int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float>),
                       "int16_t, uint16_t, half, bfloat16_t, int32_t, uint32_t, float");
    constexpr int64_t most = 32767;
    const InitConstValueParams<T> &fill = initConstValueParams;
    piton::RequireRange("Fill", 1, fill.repeatTimes, 0, most, at);
    piton::RequireRange("Fill", 1, fill.blockNum, 0, most, at);
    piton::RequireRange("Fill", 1, fill.dstGap, 0, most, at);
    const vnpu_operand to = dst.Operand();
    const uint32_t block = to.space == VNPU_SPACE_L1 ? piton::kBlockBytes : piton::kFractalBytes;
    vnpu_record record = piton::MakeNote(VNPU_OP_FILL, at, fill.repeatTimes, fill.blockNum * block);
    record.p[3] = fill.dstGap * block;
    record.pipe = to.space == VNPU_SPACE_L1 ? VNPU_PIPE_MTE2 : VNPU_PIPE_MTE1;
    record.dst = to;
    record.scalar = piton::ToBits(fill.initValue);
    piton::Submit(record);
}

/* The older name. */
template <typename T>
PITON_API void InitConstValue(const LocalTensor<T> &dst, const InitConstValueParams<T> &initConstValueParams, piton::Location at = piton::Location()) {
    Fill(dst, initConstValueParams, at);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CUBE_FILL_H */
