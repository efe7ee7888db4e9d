/* What the plugins check of a tensor before they launch a kernel on it. */
#ifndef REFERENCE_TORCH_ARGUMENTS_H
#define REFERENCE_TORCH_ARGUMENTS_H

#include <ATen/ATen.h>

#include "element_type.h"

namespace common {

/* `name` is the argument's in the schema, for the message. */
inline ElementType ElementTypeOf(const at::Tensor &x, const char *name = "x") {
    switch (x.scalar_type()) {
        case at::kHalf:
            return ElementType::kFloat16;
        case at::kBFloat16:
            return ElementType::kBfloat16;
        case at::kFloat:
            return ElementType::kFloat32;
        default:
            TORCH_CHECK(false, name, " has dtype ", x.scalar_type(), ", expected float16, bfloat16 or float32");
    }
}

inline void CheckDense(const at::Tensor &x, const char *name = "x") {
    TORCH_CHECK(x.is_contiguous(), name, " has strides ", x.strides(), ", expected a contiguous tensor");
}

}  // namespace common

#endif  // REFERENCE_TORCH_ARGUMENTS_H
