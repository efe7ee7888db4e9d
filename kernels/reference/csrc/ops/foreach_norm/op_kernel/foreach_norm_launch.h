/* The launcher of foreach_norm, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_FOREACH_NORM_LAUNCH_H
#define REFERENCE_FOREACH_NORM_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"
#include "../../../common/tensor_list.h"

/* Operand 0 of a tensor is its data, operand 1 its norm (one element). */
using NormList = common::TensorList<2>;

/* Device memory that a launch needs beside the tensors. */
int64_t ForeachNormWorkspaceBytes(int32_t tensors);

/* The norms of all tensors of the list, of which the caller sets number, lengths and addresses. */
void LaunchForeachNorm(common::ElementType type, NormList list, float order, void *workspace, void *stream);

#endif  // REFERENCE_FOREACH_NORM_LAUNCH_H
