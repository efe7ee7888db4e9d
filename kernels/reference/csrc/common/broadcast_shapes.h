/* The shapes of two sides that are broadcast to each other, as a plugin passes them to a launcher. */
#ifndef REFERENCE_BROADCAST_SHAPES_H
#define REFERENCE_BROADCAST_SHAPES_H

#include <cstdint>

namespace common {

constexpr int32_t kMostAxes = 8;

struct BroadcastShapes {
    int32_t axes;
    int64_t sizes[2][kMostAxes];  // of x1 and x2, aligned: 1 where a side is repeated
};

}  // namespace common

#endif  // REFERENCE_BROADCAST_SHAPES_H
