/* Element types the operators take, as the plugin (torch) and the launcher (Ascend C) both name them. */
#ifndef QUICKSTART_ELEMENT_TYPE_H
#define QUICKSTART_ELEMENT_TYPE_H

#include <cstdint>

namespace common {

enum class ElementType : int32_t { kFloat16, kBfloat16, kFloat32 };

}  // namespace common

#endif  // QUICKSTART_ELEMENT_TYPE_H
