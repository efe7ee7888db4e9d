/* The golden ratio of this kernel: how much a core takes at a time. */
#ifndef CORPUS_GOLDEN_H
#define CORPUS_GOLDEN_H

#include "benchmark.inc"

constexpr int64_t kBlocks = BENCHMARK_BLOCKS;
constexpr int64_t kTile = 1024;  // elements

#endif  // CORPUS_GOLDEN_H
