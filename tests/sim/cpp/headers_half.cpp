/* Prints the portable half of every 16-bit pattern, and its rounding of floats near every tie, for comparison with NumPy. */
#define PITON_PORTABLE_HALF
#include "ascendc/types.h"

#include <cstdio>

int main() {
    for (uint32_t bits = 0; bits < 65536; ++bits) {
        half value;
        value.bits = static_cast<uint16_t>(bits);
        const uint32_t wide = piton::BitCast<uint32_t>(static_cast<float>(value));
        std::printf("%u", wide);
        for (int32_t step = -1; step <= 1; ++step) {
            const uint32_t tie = (bits << 16) + 0x8000u + static_cast<uint32_t>(step);
            const uint32_t near = wide + 0x1000u + static_cast<uint32_t>(step);
            std::printf(" %u %u", half(piton::BitCast<float>(near)).bits, bfloat16_t(piton::BitCast<float>(tie)).bits);
        }
        std::printf("\n");
    }
    return 0;
}
