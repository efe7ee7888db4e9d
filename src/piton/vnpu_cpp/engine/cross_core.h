/*
 * Flags between cores: the state of a launch that all its cores share.
 *
 * A flag of mode 0 is complete when every core has set it; the n-th wait of a core goes with the n-th set of every core. A soft flag lies in global memory: one
 * core writes it, another waits until it holds a value (IBSet, SyncAll with a workspace, WaitPreBlock).
 */
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "hazard.h"

namespace vnpu {

constexpr uint32_t kCrossFlags = 16;     // ids
constexpr uint32_t kMaxCrossCount = 15;  // of the counter that each id has in each core

// What a set vouches for: prefixes of the pipes of every core, the setting one's own among them.
using Vouch = std::vector<Prefix>;

struct SoftFlag {
    int32_t value = 0;
    Vouch vouch;         // of the newest set, and of those before it
    uint32_t token = 0;  // of the newest set, for the trace; 0: none
};

struct CrossState {
    std::array<std::vector<std::vector<Vouch>>, kCrossFlags> rounds;  // [id][round][core]; a core that has not set yet has an empty vouch
    std::array<std::vector<uint32_t>, kCrossFlags> arrived;           // [id][round]
    std::map<uint64_t, SoftFlag> soft;                                // by address
    uint32_t stamp = 0;                                               // rounds completed so far, of any id, and soft sets
    uint32_t tokens = 0;                                              // soft sets so far
};

// What a block that does not go on waits for.
struct Waiting {
    enum class Kind : uint8_t { Nothing, SyncAll, CrossFlag, SoftFlag };
    Kind kind = Kind::Nothing;
    uint32_t id = 0;       // CrossFlag
    uint64_t address = 0;  // SoftFlag
    int32_t value = 0;
    bool is_exact = false;
};

}  // namespace vnpu
