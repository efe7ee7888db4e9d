/* The products of Mmad for the base instruction set of the machine, and the choice of one. */
#include <cstdint>

#include "half.h"
#include "products.h"

#define VNPU_PATH portable
#define VNPU_VECTOR_BYTES 16
#include "loops/products.h"

namespace vnpu {

const ProductLoops *portable_products() { return &portable::kProductLoops; }

const ProductLoops &product_loops() {
    static const ProductLoops &best = avx512_products() ? *avx512_products() : avx2_products() ? *avx2_products() : *portable_products();
    return best;
}

}  // namespace vnpu
