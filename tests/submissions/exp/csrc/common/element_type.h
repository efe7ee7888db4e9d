/* Element types the operators take, as the plugin (torch) and the launcher (Ascend C) both name them. */
#ifndef EXP_SUBMISSION_ELEMENT_TYPE_H
#define EXP_SUBMISSION_ELEMENT_TYPE_H

#include <cstdint>

namespace common {

enum class ElementType : int32_t { kFloat16, kBfloat16, kFloat32 };

}  // namespace common

#endif  // EXP_SUBMISSION_ELEMENT_TYPE_H
