/*
 * Reductions: the result of one group of lanes, and the passes that composite reductions are made of.
 *
 * Order: within a group neighbours are added first, (1+2), (3+4), ..., then pairs of pairs; half sums are rounded at every level. A lane that the mask
 * leaves out is absent: its partner goes on alone.
 * Choices where nothing is published: a NaN wins over every number in a maximum or minimum, the first of several; +0 and -0 tie. Ties give the smallest index.
 */
#pragma once

#include "footprint.h"

namespace vnpu {

enum class Reduction : uint8_t { Sum, Max, Min };
enum ReduceOrder : uint32_t { kValueIndex, kIndexValue, kOnlyValue, kOnlyIndex, kReduceOrders };  // AscendC::ReduceOrder

struct Reduced {
    float value = 0.0f;
    uint32_t index = 0;
    bool is_any = false;  // some lane was active
    bool is_undefined = false;
};

constexpr uint32_t kMostLanes = 128;  // of halves in a repeat

// Lanes of one iteration, read before anything is written.
struct Group {
    float values[kMostLanes];
    bool is_active[kMostLanes];
    bool is_undefined[kMostLanes];
    bool is_plain;  // every lane is active and defined; the two lists above say nothing then
};

uint32_t reduced_lanes(const vnpu_operand &source);  // of a repeat; 0 for a dtype that reductions lack
Group read_group(const Core &core, const vnpu_operand &source, const Iterations &iterations, uint32_t repeat);
// Lanes [first, first + count) of the group; `index` counts from `first`.
Reduced reduce_group(const Group &group, uint32_t first, uint32_t count, Reduction reduction, bool is_half);
float add_rounded(float a, float b, bool is_half);
// Whether `b` takes the place of `a`, which comes before it.
bool replaces(float a, float b, Reduction reduction);

float load_float(const Core &core, uint64_t at, bool is_half);
void store_value(Core &core, uint64_t at, float value, bool is_half, bool is_undefined);
void store_bits(Core &core, uint64_t at, uint64_t bits, uint32_t bytes, bool is_undefined);

// One WholeReduce instruction; the destination's repeat stride counts results.
void run_whole_reduce(Core &core, const vnpu_record &record);

}  // namespace vnpu
