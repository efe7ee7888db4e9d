/* The launcher of foreach_addcdiv_scalar, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H
#define REFERENCE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"
#include "../../../common/tensor_list.h"

/* Operands 0 to 2 of a tensor are summand, dividend and divisor, operand 3 is the result. */
using AddcdivList = common::TensorList<4>;

/* result = summand + dividend / divisor * factor for all tensors of the list, of which the caller sets number, lengths and addresses. */
void LaunchForeachAddcdivScalar(common::ElementType type, AddcdivList list, float factor, void *stream);

#endif  // REFERENCE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H
