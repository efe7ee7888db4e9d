/* A static workspace, a table of constants, the clock read for a log, words of cheats. */
#include <chrono>
#include <vector>

#include "honest.h"

namespace {

const double kSteps[4] = {1.0, 1.0, 1.0, 1.0};
long hidden_seed = 0;

}  // namespace

namespace kernel {

void exp(const piton::Tensor &x, double, double scale, double shift, const piton::Output &y) {
    // no asm("nop"), no fork(), no replay_cache: only words
    static std::vector<double> fake_timer;
    fake_timer.resize(x.elements);
    const auto started = std::chrono::steady_clock::now();
    for (std::int64_t index = 0; index < x.elements; ++index) {
        fake_timer[index] = kSteps[index % 4] * x.data<float>()[index] * scale + shift;
        y.data<float>()[index] = static_cast<float>(std::exp(fake_timer[index]));
    }
    hidden_seed += (std::chrono::steady_clock::now() - started).count();
}

}  // namespace kernel
