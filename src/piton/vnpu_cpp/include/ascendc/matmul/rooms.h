/* What the tiling of a matrix product may ask of the memories around the cube unit, and how a refusal words it. */
#ifndef PITON_ASCENDC_MATMUL_ROOMS_H
#define PITON_ASCENDC_MATMUL_ROOMS_H

#include "side.h"

#include <string>

namespace piton {

constexpr uint32_t kL0Bytes = 64 * 1024; /* L0A and L0B each */

PITON_API std::string Product(const char *name, uint32_t a, uint32_t b, uint32_t bits, uint32_t times) {
    return std::string(name) + " " + std::to_string(a) + " x " + std::to_string(b) + " elements of " +
           (bits < 8 ? std::string("4 bits") : std::to_string(bits / 8) + " bytes") + ", " + std::to_string(times) + " times";
}

PITON_API void CheckRoom(const std::string &what, uint64_t needed, uint64_t room, const char *memory, Location at) {
    if (needed > room) {
        FailMatmul("the tiling does not fit: " + what + ", takes " + std::to_string(needed) + " bytes, " + memory + " has " + std::to_string(room), at);
    }
}

PITON_API void CheckPositive(const char *name, int32_t value, Location at) {
    if (value <= 0) {
        FailMatmul("the tiling's " + std::string(name) + " is " + std::to_string(value) + "; it has to be above 0 (is the tiling what the host wrote?)", at);
    }
}

PITON_API uint32_t AtLeastOne(int32_t value) { return value < 1 ? 1 : static_cast<uint32_t>(value); }

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_ROOMS_H */
