/*
 * Rows of one operand times sixteen columns of the other: the inner loop of Mmad.
 *
 * Problem: nearly all host time of a cube kernel goes here, and no bit may depend on the instruction set.
 * Approach: the sixteen columns lie side by side in vectors, so that every sum keeps its own order: the products of `depth` (of one fractal) one after
 * another, then the total added to what was there. Eight partial sums at a time hide the latency of additions. Nothing is fused (-ffp-contract=off).
 * Limits: included once per instruction set, which its unit has chosen (VNPU_PATH, VNPU_VECTOR_BYTES).
 */
#pragma once

namespace vnpu::VNPU_PATH::products {

namespace {

constexpr uint32_t kColumns = 16;

// Vectors of one sixteen columns wide line; may lie anywhere.
template <class Value>
struct Line {
    typedef Value Wide __attribute__((vector_size(VNPU_VECTOR_BYTES)));
    typedef Value Loose __attribute__((vector_size(VNPU_VECTOR_BYTES), aligned(4), may_alias));
    static constexpr uint32_t kLanes = VNPU_VECTOR_BYTES / sizeof(Value);
    static constexpr uint32_t kVectors = kColumns / kLanes;
};

// `Rows` rows of `a` (`pitch` values apart), all of k.
template <class Value, uint32_t Rows>
void multiply_rows(const Value *a, uint32_t pitch, const Value *b, uint32_t k, uint32_t depth, Value *sums) {
    using Lines = Line<Value>;
    using Wide = typename Lines::Wide;
    using Loose = typename Lines::Loose;
    for (uint32_t first = 0; first < k; first += depth) {
        Wide part[Rows][Lines::kVectors] = {};
        const uint32_t end = first + depth < k ? first + depth : k;
        for (uint32_t deep = first; deep < end; ++deep) {
            const auto *columns = reinterpret_cast<const Loose *>(b + deep * kColumns);
            for (uint32_t row = 0; row < Rows; ++row)
                for (uint32_t at = 0; at < Lines::kVectors; ++at) part[row][at] += a[row * pitch + deep] * Wide(columns[at]);
        }
        for (uint32_t row = 0; row < Rows; ++row) {
            auto *sum = reinterpret_cast<Loose *>(sums + row * kColumns);
            for (uint32_t at = 0; at < Lines::kVectors; ++at) sum[at] = Wide(sum[at]) + part[row][at];
        }
    }
}

template <class Value>
void multiply_all(const Value *a, uint32_t rows, const Value *b, uint32_t pitch, uint32_t k, uint32_t depth, Value *sums) {
    constexpr uint32_t kRows = 8 / Line<Value>::kVectors;
    uint32_t row = 0;
    for (; row + kRows <= rows; row += kRows) multiply_rows<Value, kRows>(a + row * pitch, pitch, b, k, depth, sums + row * kColumns);
    for (; row < rows; ++row) multiply_rows<Value, 1>(a + row * pitch, pitch, b, k, depth, sums + row * kColumns);
}

}  // namespace

inline void floats(const ProductJob<float> &job) { multiply_all(job.a, job.rows, job.b, job.pitch, job.k, job.depth, job.sums); }
inline void integers(const ProductJob<int32_t> &job) { multiply_all(job.a, job.rows, job.b, job.pitch, job.k, job.depth, job.sums); }

}  // namespace vnpu::VNPU_PATH::products
