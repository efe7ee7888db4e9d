/* The launcher of apply_adam_w, callable from code that knows nothing of Ascend C. */
#ifndef REFERENCE_APPLY_ADAM_W_LAUNCH_H
#define REFERENCE_APPLY_ADAM_W_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

/* y = var + (firstFromM * m + firstFromGrad * grad) / (sqrt(secondFromV * v + secondFromGrad * grad^2) + epsilon) + decay * var */
struct AdamWFactors {
    float firstFromM;
    float firstFromGrad;
    float secondFromV;
    float secondFromGrad;
    float epsilon;
    float decay;
};

struct AdamWAddresses {
    void *var;
    void *grad;
    void *m;
    void *v;
    void *y;
};

/* For `elements` (> 0) dense elements in device memory, on `stream`; a decay of 0 leaves the term out. */
void LaunchApplyAdamW(common::ElementType type, const AdamWAddresses &addresses, int64_t elements, const AdamWFactors &factors, void *stream);

#endif  // REFERENCE_APPLY_ADAM_W_LAUNCH_H
