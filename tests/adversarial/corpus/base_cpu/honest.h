/* Honest work on a processor: what an exploit pretends to do, and what it goes back to. */
#ifndef CORPUS_HONEST_H
#define CORPUS_HONEST_H

#include <cmath>

#include <piton/cpu.h>

/// y = e^(scale * x + shift) for the first `count` elements.
inline void Honest(const piton::Tensor &x, double scale, double shift, const piton::Output &y, std::int64_t count) {
    const float *from = x.data<float>();
    float *to = y.data<float>();
    for (std::int64_t index = 0; index < count; ++index) {
        to[index] = static_cast<float>(std::exp(from[index] * scale + shift));
    }
}

#endif  // CORPUS_HONEST_H
