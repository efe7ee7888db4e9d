/*
 * ShapeInfo: lengths of the dimensions of a tensor, which a tensor can carry along.
 *
 * Problem: tensors are copied all the time, and few carry a shape.
 * Approach: a tensor holds a pointer to the shape it was given; equal shapes are kept once by each core. Device code runs in one thread.
 * Limits: nothing is computed from the format.
 */
#ifndef PITON_ASCENDC_SHAPE_INFO_H
#define PITON_ASCENDC_SHAPE_INFO_H

#include <algorithm>
#include <deque>

#include "enums.h"
#include "macros.h"

namespace AscendC {

constexpr uint32_t kMaxShapeDims = 8;

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC };

/* The lengths as they are in memory, and as they were before padding. */
struct ShapeInfo {
    PITON_API ShapeInfo() {}
    PITON_API ShapeInfo(const uint8_t inputShapeDim, const uint32_t inputShape[]) : ShapeInfo(inputShapeDim, inputShape, DataFormat::ND) {}
    PITON_API ShapeInfo(const uint8_t inputShapeDim, const uint32_t inputShape[], const DataFormat inputFormat)
        : ShapeInfo(inputShapeDim, inputShape, inputShapeDim, inputShape, inputFormat) {}
    PITON_API ShapeInfo(const uint8_t inputShapeDim, const uint32_t inputShape[], const uint8_t inputOriginalShapeDim, const uint32_t inputOriginalShape[],
                        const DataFormat inputFormat)
        : shapeDim(inputShapeDim), originalShapeDim(inputOriginalShapeDim), dataFormat(inputFormat) {
        std::copy_n(inputShape, std::min<uint32_t>(inputShapeDim, kMaxShapeDims), shape);
        std::copy_n(inputOriginalShape, std::min<uint32_t>(inputOriginalShapeDim, kMaxShapeDims), originalShape);
    }

    uint8_t shapeDim = 0;
    uint32_t shape[kMaxShapeDims] = {};
    uint8_t originalShapeDim = 0;
    uint32_t originalShape[kMaxShapeDims] = {};
    DataFormat dataFormat = DataFormat::ND;
};

/* Product of the lengths; 1 without dimensions. */
PITON_API int GetShapeSize(const ShapeInfo &shapeInfo) {
    int size = 1;
    for (uint32_t i = 0; i < shapeInfo.shapeDim; ++i) {
        size *= static_cast<int>(shapeInfo.shape[i]);
    }
    return size;
}

}  // namespace AscendC

namespace piton {

PITON_API bool IsSameShape(const AscendC::ShapeInfo &one, const AscendC::ShapeInfo &other) {
    return one.shapeDim == other.shapeDim && one.originalShapeDim == other.originalShapeDim && one.dataFormat == other.dataFormat &&
           std::equal(one.shape, one.shape + AscendC::kMaxShapeDims, other.shape) &&
           std::equal(one.originalShape, one.originalShape + AscendC::kMaxShapeDims, other.originalShape);
}

/* Of the core that runs, from one launch on: static data of a library is put back after a launch (engine/static_data.h). Never freed: tensors point into it. */
__attribute__((section("piton_block_local.shapes"))) inline std::deque<AscendC::ShapeInfo> *keptShapes = nullptr;

/* The kept shape that is equal to this one; a deque, because its elements stay where they are. */
PITON_API const AscendC::ShapeInfo *KeepShape(const AscendC::ShapeInfo &shape) {
    if (!keptShapes) keptShapes = new std::deque<AscendC::ShapeInfo>();
    const auto found = std::find_if(keptShapes->begin(), keptShapes->end(), [&](const AscendC::ShapeInfo &one) { return IsSameShape(one, shape); });
    return found != keptShapes->end() ? &*found : &keptShapes->emplace_back(shape);
}

}  // namespace piton

#endif /* PITON_ASCENDC_SHAPE_INFO_H */
