/* Member functions of CubeCore (core.h): what is asked of tilings and inputs before anything is computed. */
#ifndef PITON_ASCENDC_MATMUL_CORE_CHECKS_H
#define PITON_ASCENDC_MATMUL_CORE_CHECKS_H

#include "core.h"
#include "rooms.h"

namespace piton {

PITON_API void CubeCore::CheckTiling(Location at) const {
    CheckPositive("singleCoreM", tiling_.singleCoreM, at);
    CheckPositive("singleCoreN", tiling_.singleCoreN, at);
    CheckPositive("singleCoreK", tiling_.singleCoreK, at);
    CheckPositive("baseM", tiling_.baseM, at);
    CheckPositive("baseN", tiling_.baseN, at);
    CheckPositive("baseK", tiling_.baseK, at);
    const uint32_t baseM = tiling_.baseM, baseN = tiling_.baseN, baseK = tiling_.baseK;
    const bool isWhole = (baseM % 16 == 0 || left_.IsVector()) && baseN % 16 == 0 && baseK % left_.Unit() == 0;
    if (!isWhole) {
        FailMatmul("base blocks are whole fractals: baseM and baseN multiples of 16, baseK of " + std::to_string(left_.Unit()) + "; found " +
                       std::to_string(baseM) + " x " + std::to_string(baseN) + " x " + std::to_string(baseK),
                   at);
    }
    CheckRoom(Product("baseM x baseK", baseM, baseK, left_.bits, 1), left_.TileBytes(baseM, baseK), kL0Bytes, "L0A", at);
    CheckRoom(Product("baseN x baseK", baseN, baseK, right_.bits, 1), right_.TileBytes(baseN, baseK), kL0Bytes, "L0B", at);
    CheckRoom(Product("baseM x baseN", baseM, baseN, 32, ResultBuffers()), uint64_t(ResultBytes()) * ResultBuffers(),
              Fetch(MakeNote(VNPU_OP_GET_CAPACITY, at, VNPU_SPACE_L0C)), "L0C", at);
    if (tiling_.isBias) {
        CheckRoom("the bias of baseN " + std::to_string(baseN) + " columns", uint64_t(baseN) * 4, Fetch(MakeNote(VNPU_OP_GET_CAPACITY, at, VNPU_SPACE_BT)),
                  "the bias table", at);
    }
}

PITON_API void CubeCore::CheckInputs(Location at) const {
    if (!IsReady()) {
        FailMatmul("the object has no tiling: call REGIST_MATMUL_OBJ (or Init) first", at);
    }
    if (!left_.isSet || !right_.isSet) {
        FailMatmul(std::string("Iterate without matrix ") + (left_.isSet ? "B: call SetTensorB first" : "A: call SetTensorA first"), at);
    }
    if (hasBias_ && !tiling_.isBias) {
        FailMatmul(
            "SetBias, but the tiling's isBias is 0: call EnableBias(true) where the tiling is made; or, of a "
            "constant tiling, L1 has no room for a bias beside the pieces of A and B",
            at);
    }
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_CORE_CHECKS_H */
