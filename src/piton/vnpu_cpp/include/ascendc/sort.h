/*
 * Sort32, MrgSort and GetMrgSortResult: structures of a score and its index, 8 bytes each.
 *
 * Problem: MrgSort has five tensors and seven numbers, a record three operands.
 * Approach: the third and fourth list travel as addresses and limits in the scalar and the mask (docs/vnpu-abi.md).
 * Limits: half and float, as documented for the Ascend 910B. The high-level Sort, Concat, Extract and TopK are not here.
 */
#ifndef PITON_ASCENDC_SORT_H
#define PITON_ASCENDC_SORT_H

#include "vector.h"

namespace AscendC {

template <typename T>
struct MrgSortSrcList {
    PITON_API MrgSortSrcList() {}
    PITON_API MrgSortSrcList(const LocalTensor<T> src1In, const LocalTensor<T> src2In, const LocalTensor<T> src3In, const LocalTensor<T> src4In)
        : src1(src1In), src2(src2In), src3(src3In), src4(src4In) {}

    LocalTensor<T> src1;
    LocalTensor<T> src2;
    LocalTensor<T> src3;
    LocalTensor<T> src4;
};

/* Lengths in structures; validBit 3, 7 or 15: the first two, three or all lists. */
struct MrgSort4Info {
    PITON_API MrgSort4Info() {}
    PITON_API MrgSort4Info(const uint16_t lengths[4], const bool suspension, piton::Narrow<uint16_t> bits, piton::Narrow<uint16_t> repeats,
                           piton::Location at = piton::Location())
        : elementLengths{lengths[0], lengths[1], lengths[2], lengths[3]},
          ifExhaustedSuspension(suspension),
          validBit(bits.Get("MrgSort4Info", 2, at)),
          repeatTimes(repeats.Get("MrgSort4Info", 3, at)) {}

    uint16_t elementLengths[4] = {0, 0, 0, 0};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 0;
    uint8_t repeatTimes = 1;
};

}  // namespace AscendC

namespace piton {

template <typename T>
PITON_API vnpu_record MergeRecord(const AscendC::LocalTensor<T> &dst, const AscendC::MrgSortSrcList<T> &src, const AscendC::MrgSort4Info &params, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_MRG_SORT, at, params.repeatTimes, params.validBit, params.ifExhaustedSuspension);
    const vnpu_operand third = src.src3.Operand(), fourth = src.src4.Operand();
    record.pipe = VNPU_PIPE_V;
    record.dst = Dense(dst);
    record.src0 = Dense(src.src1);
    record.src1 = Dense(src.src2);
    record.scalar = third.addr | fourth.addr << 32;
    record.mask[1] = third.limit | uint64_t(fourth.limit) << 32;
    for (uint32_t i = 0; i < 4; ++i) {
        record.mask[0] |= uint64_t(params.elementLengths[i]) << (16 * i);
    }
    return record;
}

}  // namespace piton

namespace AscendC {

/* Each repeat sorts 32 scores, largest first. */
template <typename T>
PITON_API void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<uint32_t> &src1, const int32_t repeatTime,
                      piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("Sort32", piton::kIsFloat<T>, "half, float");
    piton::RequireRange("Sort32", 3, repeatTime, 0, 255, at);
    vnpu_record record = piton::MakeNote(VNPU_OP_SORT32, at, static_cast<uint32_t>(repeatTime));
    record.pipe = VNPU_PIPE_V;
    record.dst = piton::Dense(dst);
    record.src0 = piton::Dense(src0);
    record.src1 = piton::Dense(src1);
    piton::Submit(record);
}

template <typename T>
PITON_API void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params, piton::Location at = piton::Location()) {
    using piton::kDtype;
    PITON_REQUIRE_TYPE("MrgSort", piton::kIsFloat<T>, "half, float");
    piton::Submit(piton::MergeRecord(dst, src, params, at));
}

/* How many structures the last MrgSort took from each list. */
PITON_API void GetMrgSortResult(uint16_t &mrgSortList1, uint16_t &mrgSortList2, uint16_t &mrgSortList3, uint16_t &mrgSortList4,
                                piton::Location at = piton::Location()) {
    const uint64_t taken = piton::Fetch(piton::MakeNote(VNPU_OP_GET_MRG_RESULT, at));
    mrgSortList1 = static_cast<uint16_t>(taken);
    mrgSortList2 = static_cast<uint16_t>(taken >> 16);
    mrgSortList3 = static_cast<uint16_t>(taken >> 32);
    mrgSortList4 = static_cast<uint16_t>(taken >> 48);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_SORT_H */
