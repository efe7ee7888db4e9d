/*
 * Several small products in one call (IterateBatch): which matrices belong together, and where each lies.
 *
 * Problem: the matrices of a batch lie one behind the other (NORMAL, BNGS1S2) or beside each other in the rows of a larger tensor (BSNGD, SBNGD); A and B may
 * have batches of different numbers, of which the smaller one is used several times.
 * Approach: a layout gives the offset of a matrix by its number and the distance of two of its rows; the cube core then computes one product after another
 * (core_batch.h).
 * Limits: matrix i of the result takes matrix i / (results / own number) of the smaller batch: the pages say that it is broadcast along G, not how. A sum over
 * G (CLayoutInfoG below those of A and B) is refused.
 */
#ifndef PITON_ASCENDC_MATMUL_BATCH_H
#define PITON_ASCENDC_MATMUL_BATCH_H

#include "side.h"

namespace piton {

/* What one call of IterateBatch, or `loops` calls by IterateNBatch, compute. */
struct Batch {
    uint32_t lefts = 1; /* matrices A of a call */
    uint32_t rights = 1;
    uint32_t loops = 1;
    uint32_t strideA = 0; /* elements from a matrix to the next where the layout does not say them; 0: dense */
    uint32_t strideB = 0;

    PITON_API uint32_t Results() const { return lefts > rights ? lefts : rights; }
    /* The matrix of a batch of `own` per call that result `index` takes. */
    PITON_API uint32_t Taken(uint32_t index, uint32_t own) const { return index / Results() * own + index % Results() / (Results() / own); }
};

/* Axes of a batch as the tiling has them: rows and columns of a matrix are `s` and `d`. */
struct BatchLayout {
    LayoutMode mode = LayoutMode::NONE;
    uint32_t b = 1, s = 1, n = 1, g = 1, d = 1;
    uint32_t stride = 0; /* of NORMAL */

    PITON_API bool IsDense() const { return mode == LayoutMode::NORMAL || mode == LayoutMode::BNGS1S2; }
    /* Elements from a row to the next. */
    PITON_API uint32_t Pitch() const { return mode == LayoutMode::BSNGD ? n * g * d : mode == LayoutMode::SBNGD ? b * n * g * d : d; }
    /* Elements in front of matrix `index`. */
    PITON_API uint64_t Offset(uint32_t index) const {
        if (mode == LayoutMode::BSNGD) {
            return uint64_t(index / (n * g)) * s * n * g * d + uint64_t(index % (n * g)) * d;
        }
        return mode == LayoutMode::SBNGD ? uint64_t(index) * d : uint64_t(index) * (stride != 0 ? stride : s * d);
    }
};

/* In fractals a dense matrix takes whole ones. */
PITON_API BatchLayout InFractals(BatchLayout layout, uint32_t unit) {
    layout.s = CeilTo(layout.s, 16);
    layout.d = CeilTo(layout.d, unit);
    return layout;
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_BATCH_H */
