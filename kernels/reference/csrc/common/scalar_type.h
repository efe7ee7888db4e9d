/* Element types of the operators that also take integers, as the plugin (torch) and the launcher (Ascend C) both name them. */
#ifndef REFERENCE_SCALAR_TYPE_H
#define REFERENCE_SCALAR_TYPE_H

#include <cstdint>

namespace common {

enum class ScalarType : int32_t { kFloat16, kBfloat16, kFloat32, kInt8, kInt16, kInt32, kInt64 };

}  // namespace common

#endif  // REFERENCE_SCALAR_TYPE_H
