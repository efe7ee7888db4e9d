/* The loop around a kernel: binds the arguments of a case, then answers batches of calls.
 *
 * Problem: the parent measures batches from outside, so that nothing in this process is believed about time; what it sends must cost little to read.
 * Approach: one socket, messages of 64-bit words (targets/cpu/words.py). A case names every argument by its offset in a slot; a batch names slots. Inputs and
 * outputs lie in two shared memories at the same offsets in every slot.
 * Limits: the kernel shares this process and can do everything that this loop can; the parent checks outputs and takes times by itself.
 */
#ifndef PITON_CPU_SERVE_H
#define PITON_CPU_SERVE_H

#include <cstdint>
#include <string>
#include <vector>

#include "piton/cpu.h"

namespace piton::serve {

/// Reads the words of a case in the order of the schema.
class Words {
public:
    explicit Words(const std::vector<std::int64_t> &words) : words_(words) {}

    std::int64_t Integer() { return words_.at(at_++); }
    double Real();
    std::string Text();
    Ints Integers();
    Reals RealList();
    Tensor Input();
    Output Result();
    Tensors Inputs();
    Outputs Results();

private:
    void Describe(Described &made);

    const std::vector<std::int64_t> &words_;
    std::size_t at_ = 0;
};

/// Where the slot of one call lies; `At` moves what was bound by its offset there.
struct Place {
    const char *inputs;
    char *outputs;

    Tensor At(const Tensor &bound) const;
    Output At(const Output &bound) const;
    Tensors At(const Tensors &bound) const;
    Outputs At(const Outputs &bound) const;
};

/// The two halves that are generated for each operator (targets/cpu/signature.py).
void Bind(Words &words);
void Call(const Place &place);

}  // namespace piton::serve

#endif
