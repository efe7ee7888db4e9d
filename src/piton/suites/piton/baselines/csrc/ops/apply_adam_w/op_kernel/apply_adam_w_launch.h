/* The launcher of apply_adam_w, callable from code that knows nothing of Ascend C. */
#ifndef BASELINE_APPLY_ADAM_W_LAUNCH_H
#define BASELINE_APPLY_ADAM_W_LAUNCH_H

#include <cstdint>

#include "../../../common/element_type.h"

struct AdamWParameters {
    float beta1;
    float oneLessBeta1;
    float beta2;
    float oneLessBeta2;
    float correction1;  // 1 / (1 - beta1^step)
    float correction2;
    float epsilon;
    float decay;
    float rate;  // signed
};

struct AdamWAddresses {
    void *var;
    void *grad;
    void *m;
    void *v;
    void *y;
};

/* For `elements` (> 0) dense elements in device memory, on `stream`. */
void LaunchApplyAdamW(baseline::ElementType type, const AdamWAddresses &addresses, int64_t elements, const AdamWParameters &parameters, void *stream);

#endif  // BASELINE_APPLY_ADAM_W_LAUNCH_H
