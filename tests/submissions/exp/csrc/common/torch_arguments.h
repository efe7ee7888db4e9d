/* What the plugins check of a tensor before they launch a kernel on it. */
#ifndef EXP_SUBMISSION_TORCH_ARGUMENTS_H
#define EXP_SUBMISSION_TORCH_ARGUMENTS_H

#include <ATen/ATen.h>

#include "element_type.h"

namespace common {

inline ElementType ElementTypeOf(const at::Tensor &x) {
    switch (x.scalar_type()) {
        case at::kHalf:
            return ElementType::kFloat16;
        case at::kBFloat16:
            return ElementType::kBfloat16;
        case at::kFloat:
            return ElementType::kFloat32;
        default:
            TORCH_CHECK(false, "x has dtype ", x.scalar_type(), ", expected float16, bfloat16 or float32");
    }
}

inline void CheckDense(const at::Tensor &x) { TORCH_CHECK(x.is_contiguous(), "x has strides ", x.strides(), ", expected a contiguous tensor"); }

}  // namespace common

#endif  // EXP_SUBMISSION_TORCH_ARGUMENTS_H
