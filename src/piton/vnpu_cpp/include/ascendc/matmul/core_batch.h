/* Member functions of CubeCore (core.h): batches of products. */
#ifndef PITON_ASCENDC_MATMUL_CORE_BATCH_H
#define PITON_ASCENDC_MATMUL_CORE_BATCH_H

#include "core.h"

namespace piton {

PITON_API void CubeCore::CheckBatch(const Batch &batch, Location at) const {
    if (traits.leftLayout == LayoutMode::NONE || traits.leftLayout != traits.rightLayout || traits.resultLayout == LayoutMode::NONE) {
        FailMatmul("IterateBatch: A, B and C need a layout in their MatmulType (BSNGD, SBNGD, BNGS1S2 or NORMAL), A and B the same", at);
    }
    const uint32_t lefts = batch.lefts, rights = batch.rights;
    if (lefts == 0 || rights == 0 || batch.Results() % lefts != 0 || batch.Results() % rights != 0) {
        FailMatmul("IterateBatch of " + std::to_string(lefts) + " matrices A and " + std::to_string(rights) +
                       " matrices B: one number has to be a multiple of the other, and neither 0 (without a batch in the call: SetBatchNum first)",
                   at);
    }
    const BatchLayout left = LeftLayout(), right = RightLayout(), result = ResultLayout();
    const uint32_t groups = left.g > right.g ? left.g : right.g;
    if (traits.leftLayout != LayoutMode::NORMAL && result.g < groups) {
        FailMatmul("IterateBatch with CLayoutInfoG " + std::to_string(result.g) + " and " + std::to_string(groups) +
                       " groups of A or B: the sum over G is not supported by the virtual NPU; keep G in C and add up afterwards",
                   at);
    }
}

PITON_API BatchLayout CubeCore::LeftLayout() const {
    const TCubeTiling &t = tiling_;
    if (traits.leftLayout == LayoutMode::NORMAL) {
        return NormalLayout(left_, orgM_, orgKa_);
    }
    const BatchLayout layout{
        traits.leftLayout, uint32_t(t.ALayoutInfoB), uint32_t(t.ALayoutInfoS), uint32_t(t.ALayoutInfoN), uint32_t(t.ALayoutInfoG), uint32_t(t.ALayoutInfoD), 0};
    return left_.format == CubeFormat::NZ ? InFractals(layout, left_.Unit()) : layout;
}

PITON_API BatchLayout CubeCore::RightLayout() const {
    const TCubeTiling &t = tiling_;
    if (traits.rightLayout == LayoutMode::NORMAL) {
        return NormalLayout(right_, orgN_, orgKb_);
    }
    const BatchLayout layout{traits.rightLayout,
                             uint32_t(t.BLayoutInfoB),
                             uint32_t(t.BLayoutInfoS),
                             uint32_t(t.BLayoutInfoN),
                             uint32_t(t.BLayoutInfoG),
                             uint32_t(t.BLayoutInfoD),
                             0};
    return right_.format == CubeFormat::NZ ? InFractals(layout, right_.Unit()) : layout;
}

/* One matrix behind the other, each as large as the whole matrix of the tiling or of SetOrgShape. */
PITON_API BatchLayout CubeCore::NormalLayout(const Side &side, uint32_t outers, uint32_t depth) {
    const BatchLayout layout{LayoutMode::NORMAL, 1, side.IsPlain() ? outers : depth, 1, 1, side.IsPlain() ? depth : outers, 0};
    return side.format == CubeFormat::NZ ? InFractals(layout, side.Unit()) : layout;
}

PITON_API BatchLayout CubeCore::ResultLayout() const {
    const TCubeTiling &t = tiling_;
    if (traits.resultLayout == LayoutMode::NORMAL) {
        return {LayoutMode::NORMAL, 1, orgM_, 1, 1, resultN_, 0};
    }
    return {traits.resultLayout,
            uint32_t(t.CLayoutInfoB),
            uint32_t(t.CLayoutInfoS1),
            uint32_t(t.CLayoutInfoN),
            uint32_t(t.CLayoutInfoG),
            uint32_t(t.CLayoutInfoS2),
            0};
}

/* Where matrix `index` of the results goes; in local memory they are dense. */
PITON_API ResultPlace CubeCore::PlaceInBatch(const ResultPlace &place, uint32_t index) const {
    ResultPlace one = place;
    BatchLayout layout = ResultLayout();
    if (place.isSequential) {
        layout = {LayoutMode::NORMAL, 1, m_, 1, 1, n_, 0};
        one.isSequential = false;
    }
    const uint32_t unit = place.format == CubeFormat::ND_ALIGN ? kBlockBytes / place.bytes : 1;
    layout.d = CeilTo(layout.d, unit);
    if (place.format == CubeFormat::NZ) {
        one.height = layout.s;
        layout = InFractals(layout, place.bytes == 1 ? 32 : 16);
    } else {
        one.pitch = layout.Pitch();
    }
    one.start = After(place.start, layout.Offset(index) * place.bytes);
    return one;
}

PITON_API void CubeCore::IterateBatch(const Batch &batch, const ResultPlace &place, Location at) {
    CheckInputs(at);
    CheckBatch(batch, at);
    const Side left = left_, right = right_;
    const vnpu_operand bias = bias_;
    BatchLayout leftLayout = LeftLayout(), rightLayout = RightLayout();
    leftLayout.stride = batch.strideA;
    rightLayout.stride = batch.strideB;
    for (uint32_t index = 0; index < batch.Results() * batch.loops; ++index) {
        left_.start = After(left.start, left.Bytes(leftLayout.Offset(batch.Taken(index, batch.lefts))));
        left_.pitch = left.format == CubeFormat::NZ ? 0 : leftLayout.Pitch();
        right_.start = After(right.start, right.Bytes(rightLayout.Offset(batch.Taken(index, batch.rights))));
        right_.pitch = right.format == CubeFormat::NZ ? 0 : rightLayout.Pitch();
        leftPieces_.Clear();
        rightPieces_.Clear();
        if (config.isBiasBatch) {
            bias_ = After(bias, uint64_t(index) * ResultLayout().d * BiasBytes());
        }
        IterateAll(PlaceInBatch(place, index), at);
    }
    left_ = left;
    right_ = right;
    bias_ = bias;
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_CORE_BATCH_H */
