/*
 * How much temporary memory the functions of rows need, and how many rows go at once in what they are given.
 *
 * Problem: host code asks for the least and the most memory that a function can use and reserves it; the kernel has to get along with that.
 * Approach: each function says once what it keeps: numbers per row, the same spread over blocks, and whole rows as floats. Rows go in groups, of which the
 * numbers are kept, and within a group in chunks, of which the floats are kept. Kernel and host functions count by the same formulas.
 * Limits: these are our needs; the vendor's differ, so that a kernel with a buffer of a size that it has hard-coded may not fit.
 */
#ifndef PITON_ASCENDC_NORMS_NEEDS_H
#define PITON_ASCENDC_NORMS_NEEDS_H

#include <cstdint>

namespace piton {

/* What a function keeps in temporary memory, in floats. */
struct RowNeeds {
    uint32_t fixed = 0;   /* whatever the number of rows */
    uint32_t numbers = 0; /* numbers per row of a group */
    uint32_t spreads = 0; /* blocks of a repeated number per row of a group */
    uint32_t slots = 0;   /* rows as floats, per row of a chunk */
    uint32_t pitch = 0;   /* floats of such a row */

    static constexpr uint32_t kLanes = 64, kBlock = 8;

    constexpr uint64_t OfGroup() const { return numbers + spreads * kBlock; }
    constexpr uint64_t OfChunk() const { return kLanes + uint64_t(slots) * pitch; }
    constexpr uint64_t Bytes(uint64_t group, uint64_t chunk) const { return (fixed + group * OfGroup() + chunk * OfChunk()) * sizeof(float); }
};

/* Rows of a group and of a chunk of it. */
struct RowPlan {
    uint32_t group;
    uint32_t chunk;
};

constexpr uint32_t kGroupStep = 16; /* results of either type begin at a whole block, and Brcb takes eights */
constexpr uint32_t kMostGroup = 240;

constexpr uint32_t WholeGroup(uint32_t rows) {
    return rows >= kMostGroup ? kMostGroup : rows < kGroupStep ? kGroupStep : (rows + kGroupStep - 1) / kGroupStep * kGroupStep;
}
constexpr uint32_t Fewer(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Least and most bytes that are of use. */
constexpr uint64_t LeastBytes(const RowNeeds &needs) { return needs.Bytes(kGroupStep, 1); }
constexpr uint64_t MostBytes(const RowNeeds &needs, uint32_t rows) { return needs.Bytes(WholeGroup(rows), Fewer(WholeGroup(rows), rows == 0 ? 1 : rows)); }

/* As large a group as fits whole, else a small one in chunks; the chunk is 0 where not even that fits. */
constexpr RowPlan PlanRows(uint64_t bytes, uint32_t rows, const RowNeeds &needs) {
    const uint32_t most = rows == 0 ? 1 : rows;
    for (uint32_t group = WholeGroup(rows); group >= kGroupStep; group -= kGroupStep) {
        if (needs.Bytes(group, Fewer(group, most)) <= bytes) {
            return {group, Fewer(group, most)};
        }
    }
    const uint64_t rest = needs.Bytes(kGroupStep, 0);
    return {kGroupStep, bytes < rest ? 0 : static_cast<uint32_t>((bytes - rest) / (needs.OfChunk() * sizeof(float)))};
}

/* Gamma and beta as floats; mean, variance and deviation; a row and a product. */
constexpr RowNeeds LayerNormNeeds(uint32_t pitch, bool isHalfGamma) { return {isHalfGamma ? 2 * pitch : 0, 3, 2, 2, pitch}; }

/* Maximum, sum, an earlier number, the factor between; maxima and sums over blocks; a row. */
constexpr RowNeeds SoftmaxNeeds(uint32_t pitch) { return {0, 4, 2, 1, pitch}; }

/* Mean, variance and block means of the PASA form; its numbers' blocks and the shifts of eight parts of a row. */
constexpr RowNeeds SoftmaxPasaNeeds(uint32_t pitch) { return {0, 7, 2, 1, pitch}; }

/* The sum of products, over blocks twice; gradients, results and products. */
constexpr RowNeeds SoftmaxGradNeeds(uint32_t pitch) { return {0, 1, 2, 3, pitch}; }

/* The root of the mean square, over blocks; gamma as floats; a row and squares. */
constexpr RowNeeds RmsNormNeeds(uint32_t pitch, bool isHalf) { return {isHalf ? pitch : 0, 1, 1, 2, pitch}; }

/* Gamma as floats; what layer_norm_grad.h lists. */
constexpr RowNeeds LayerNormGradNeeds(uint32_t pitch) { return {pitch, 7, 4, 3, pitch}; }

/* Two sums over all rows; gradients, and products in the place of what they are made of. */
constexpr RowNeeds LayerNormGradBetaNeeds(uint32_t pitch) { return {2 * pitch, 0, 0, 2, pitch}; }

/* Numbers of channels or of a batch: dense, and over blocks twice. */
constexpr uint32_t WholeChannels(uint32_t channels) { return (channels + kGroupStep - 1) / kGroupStep * kGroupStep; }
constexpr uint32_t ChannelFloats(uint32_t channels) { return WholeChannels(channels) * (1 + 2 * RowNeeds::kBlock); }

/* As LayerNorm, with gamma and beta of each channel. */
constexpr RowNeeds GroupNormNeeds(uint32_t columns, uint32_t channels) { return {ChannelFloats(channels), 3, 2, 2, columns}; }

/* What is worked on in strips of a row: floats that are always there, and tensors of a strip's length. */
struct StripNeeds {
    uint32_t fixed;
    uint32_t slots;
};
constexpr uint32_t WholeRepeats(uint32_t count) { return (count + RowNeeds::kLanes - 1) / RowNeeds::kLanes * RowNeeds::kLanes; }
constexpr uint64_t StripBytes(const StripNeeds &needs, uint32_t room) { return (needs.fixed + uint64_t(needs.slots) * room) * sizeof(float); }
/* Elements of a strip in this much memory, in whole repeats. */
constexpr uint32_t StripRoom(const StripNeeds &needs, uint64_t bytes, uint32_t count) {
    const uint64_t room = (bytes / sizeof(float) - needs.fixed) / needs.slots / RowNeeds::kLanes * RowNeeds::kLanes;
    return room < WholeRepeats(count) ? static_cast<uint32_t>(room) : WholeRepeats(count);
}

/* What of this much memory is used. */
constexpr uint64_t StripsUsed(const StripNeeds &needs, uint64_t bytes, uint32_t count) {
    return StripBytes(needs, bytes < StripBytes(needs, RowNeeds::kLanes) ? RowNeeds::kLanes : StripRoom(needs, bytes, count));
}

constexpr StripNeeds WelfordUpdateNeeds() { return {0, 3}; }
constexpr StripNeeds WelfordFinalizeNeeds() { return {2 * RowNeeds::kLanes, 2}; }
/* Mean, variance, a row and what is made of it. */
constexpr StripNeeds BatchNormNeeds(uint32_t batch) { return {ChannelFloats(batch), 4}; }

}  // namespace piton

#endif /* PITON_ASCENDC_NORMS_NEEDS_H */
