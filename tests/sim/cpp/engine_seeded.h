/*
 * Kernels with one defect each, chosen at run time.
 *
 * Problem: thirty and more defective kernels would take minutes to build one by one, and a defect in a file of its own hides what the right kernel was.
 * Approach: a right kernel asks `Keep(n)` where seed n leaves something out and `Only(n)` where it puts something in; seed 0 is the right kernel. The comments
 * `[n here]`, `[n earlier]` mark the lines that a report on seed n has to name. tests/sim/test_seeded_defects.py holds the table.
 */
#pragma once

#include "kernel_operator.h"

namespace seeded {

constexpr uint32_t kTile = 512;  // floats
constexpr uint32_t kTileBytes = kTile * sizeof(float);

struct Scene {
    uint8_t *in;
    uint8_t *out;
    uint32_t tiles;
    uint32_t seed;
    bool Keep(uint32_t number) const { return seed != number; }
    bool Only(uint32_t number) const { return seed == number; }
    AscendC::GlobalTensor<float> From() const { return Tensor(in); }
    AscendC::GlobalTensor<float> To() const { return Tensor(out); }

private:
    static AscendC::GlobalTensor<float> Tensor(uint8_t *address) {
        AscendC::GlobalTensor<float> tensor;
        tensor.SetGlobalBuffer(reinterpret_cast<float *>(address));
        return tensor;
    }
};

struct Row {
    const char *name;
    void (*kernel)(const Scene &);
};

/* Set and wait at once. */
template <AscendC::HardEvent event>
void Order(piton::Location at = piton::Location()) {
    AscendC::SetFlag<event>(0, at);
    AscendC::WaitFlag<event>(0, at);
}
template <AscendC::HardEvent event>
void OrderBy(int32_t id, piton::Location at = piton::Location()) {
    AscendC::SetFlag<event>(id, at);
    AscendC::WaitFlag<event>(id, at);
}

void flags(const Scene &scene);
void pairs(const Scene &scene);
void chain(const Scene &scene);
void reload(const Scene &scene);
void rewrite(const Scene &scene);
void back(const Scene &scene);
void queues(const Scene &scene);
void ahead(const Scene &scene);
void through(const Scene &scene);
void share(const Scene &scene);
void cross(const Scene &scene);
void turn(const Scene &scene);
void own_tiles(const Scene &scene);
void count(const Scene &scene);
void fresh(const Scene &scene);
void fetch(const Scene &scene);
void matrix(const Scene &scene);
void halves(const Scene &scene);
void repeats(const Scene &scene);
void partial(const Scene &scene);
void choose(const Scene &scene);
void tail(const Scene &scene);
void shift(const Scene &scene);
void pick(const Scene &scene);
void own_id(const Scene &scene);
void many(const Scene &scene);
void scratch(const Scene &scene);
void single(const Scene &scene);
void product(const Scene &scene);
void spread(const Scene &scene);
void combine(const Scene &scene);
void counter(const Scene &scene);
void relay(const Scene &scene);
void meet(const Scene &scene);
void biased(const Scene &scene);
void rounds(const Scene &scene);
void columns(const Scene &scene);
void ringed(const Scene &scene);
void strided(const Scene &scene);
void shares(const Scene &scene);
void gathered(const Scene &scene);
void halved(const Scene &scene);
void lines(const Scene &scene);

}  // namespace seeded
