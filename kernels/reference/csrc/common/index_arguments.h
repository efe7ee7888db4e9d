/* What the plugins of operators with an index tensor check, and how they describe shapes to a launcher; host code. */
#ifndef REFERENCE_INDEX_ARGUMENTS_H
#define REFERENCE_INDEX_ARGUMENTS_H

#include <ATen/ATen.h>

namespace common {

inline void CheckRank(const at::Tensor &tensor, const char *name) {
    TORCH_CHECK(tensor.dim() >= 1 && tensor.dim() <= 8, name, " has rank ", tensor.dim(), ", expected 1 to 8");
}

inline void CheckIndexType(const at::Tensor &index, const char *name, bool isByteAllowed) {
    const auto type = index.scalar_type();
    TORCH_CHECK(type == at::kInt || type == at::kLong || (isByteAllowed && type == at::kChar), name, " has dtype ", type, ", expected int32 or int64",
                isByteAllowed ? ", or int8" : "");
}

inline void CopyShape(const at::Tensor &tensor, int64_t *shape) {
    for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
        shape[axis] = tensor.size(axis);
    }
}

}  // namespace common

#endif  // REFERENCE_INDEX_ARGUMENTS_H
