/* The launcher of foreach_addcdiv_scalar, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H
#define BASELINE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

struct AddcdivAddresses {
    void *summand;
    void *dividend;
    void *divisor;
    void *y;
};

/* y = summand + dividend / divisor * factor for one tensor of `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchAddcdivScalar(baseline::ElementType type, const AddcdivAddresses &addresses, int64_t elements, float factor, void *stream);

#endif  // BASELINE_FOREACH_ADDCDIV_SCALAR_LAUNCH_H
