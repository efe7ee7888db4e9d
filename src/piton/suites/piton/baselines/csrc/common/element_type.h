/* Element types the operators take, as the plugin (torch) and the launcher (Ascend C) both name them. */
#ifndef BASELINE_ELEMENT_TYPE_H
#define BASELINE_ELEMENT_TYPE_H

#include <cstdint>

namespace baseline {

enum class ElementType : int32_t { kFloat16, kBfloat16, kFloat32 };

}  // namespace baseline

#endif  // BASELINE_ELEMENT_TYPE_H
