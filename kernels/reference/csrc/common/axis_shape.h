/* A tensor seen along one axis; for the plugin (torch) and the launcher (Ascend C) alike. */
#ifndef REFERENCE_AXIS_SHAPE_H
#define REFERENCE_AXIS_SHAPE_H

#include <cstdint>

namespace common {

/* [outer, length, inner], the axis in the middle. */
struct AxisShape {
    int64_t outer;
    int64_t length;
    int64_t inner;
};

}  // namespace common

#endif  // REFERENCE_AXIS_SHAPE_H
