/* The launcher that every kernel of the corpus has. */
#ifndef CORPUS_EXP_LAUNCH_H
#define CORPUS_EXP_LAUNCH_H

#include <cstdint>

/* y[i] = e^(factor * x[i] + offset) for `elements` (> 0) dense float32 elements in device memory, on `stream`. */
void LaunchExp(void *x, void *y, int64_t elements, float factor, float offset, void *stream);

#endif  // CORPUS_EXP_LAUNCH_H
