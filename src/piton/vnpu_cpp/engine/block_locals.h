/*
 * Variables that every core has for itself (`__BLOCK_LOCAL__`, `[[block_local]]`).
 *
 * Problem: they are declared as global variables, while here all cores of a launch run in one process.
 * Approach: the device library keeps them together (vnpu/block_local.ld). Each core has a copy, which begins as the library was loaded; it is put there before
 * the core's fibre goes on and taken back when it stops. Used in whichever process runs device code.
 * Limits: the documentation gives no size; kMostLocalBytes is ours, a scalar unit's data cache. Copies of all cores of a launch exist at the same time only
 * where they wait for each other.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "vnpu/abi.h"

namespace vnpu {

constexpr uint32_t kMostLocalBytes = 32 << 10;

class BlockLocals {
public:
    BlockLocals() = default;
    explicit BlockLocals(const vnpu_kernel &kernel);  // with the values they start with
    void enter();                                     // before code of the core goes on
    void leave();                                     // after it has stopped

private:
    uint8_t *place_ = nullptr;
    std::vector<uint8_t> own_;
};

}  // namespace vnpu
