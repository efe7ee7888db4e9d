/*
 * Flags between cores: the state of a launch that all its cores share.
 *
 * Problem: a flag of mode 0 is for all cores of a kind, of mode 1 for the vector cores of a block, of mode 2 between a cube core and the vector cores of its
 * block. Approach: as in hardware every core has a counter per id. A set goes to a gathering, which counts its n-th set of every core that belongs to it; when
 * all have come, the counter of every receiver goes up, and what the sets vouch for goes into its inbox. The n-th wait of a core takes the n-th delivery. A
 * soft flag lies in global memory: one core writes it, another waits until it holds a value (IBSet, SyncAll with a workspace, WaitPreBlock). Limits: sets of
 * one core take effect in program order; the chip promises none between two ids, so an order between those is not known either.
 */
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "cross_parties.h"
#include "diagnostics.h"
#include "hazard.h"

namespace vnpu {

constexpr uint32_t kCrossFlags = 16;     // ids
constexpr uint32_t kMaxCrossCount = 15;  // of the counter that each id has in each core

// What a set vouches for: prefixes of the pipes of every core, the setting one's own among them.
using Vouch = std::vector<Prefix>;

// One set by every sender.
struct CrossRound {
    uint32_t arrived = 0;
    uint32_t senders = 0;
    Vouch vouch;        // of all that have come
    Place newest;       // of the newest set
    uint32_t core = 0;  // that made it
};

// The counter of one id in one core.
struct CrossCounter {
    std::vector<std::shared_ptr<const Vouch>> deliveries;
    uint32_t waits = 0;  // deliveries taken
    Place newest;        // set: the core's own where it is one of those that make the flag complete
    uint32_t pending() const { return static_cast<uint32_t>(deliveries.size()) - waits; }
};

struct SoftFlag {
    int32_t value = 0;
    Vouch vouch;         // of the newest set, and of those before it
    uint32_t token = 0;  // of the newest set, for the trace; 0: none
};

// A line of global memory that a core's data cache has written back. There may be very many: what the core knew of others is kept once for all.
struct LineFlag {
    uint32_t core = 0;
    uint32_t token = 0;
    Prefix own{};
    std::shared_ptr<const Vouch> others;
};

// A SyncAll: of all cores, or of those of one kind.
struct SyncPoint {
    uint32_t arrived = 0;
    uint32_t rounds = 0;  // completed
    Vouch vouch;          // of all that have come
    std::shared_ptr<const Vouch> newest;
};

struct CrossState {
    using Key = std::tuple<uint32_t, uint32_t, uint32_t>;  // mode, group, id
    std::map<Key, std::vector<CrossRound>> rounds;
    std::map<std::pair<uint32_t, uint32_t>, CrossCounter> counters;  // by core and id
    std::array<SyncPoint, kSyncPoints> syncs;
    std::map<uint64_t, SoftFlag> soft;   // by address
    uint32_t stamp = 0;                  // rounds completed so far, of any id, and soft sets
    std::map<uint64_t, SoftFlag> words;  // stored past the data cache, by address
    std::map<uint64_t, LineFlag> lines;  // written back by DataCacheCleanAndInvalid, by address of the line
    uint32_t word_stores = 0;            // such stores and lines so far
    uint32_t tokens = 0;                 // soft sets so far, these included
};

// What a block that does not go on waits for.
struct Waiting {
    enum class Kind : uint8_t { Nothing, SyncAll, CrossFlag, SoftFlag, Word };
    Kind kind = Kind::Nothing;
    uint32_t id = 0;       // CrossFlag; SyncAll: which of the sync points
    uint32_t round = 0;    // SyncAll: goes on when more rounds than this are complete; Word: stores past the cache so far
    uint64_t address = 0;  // SoftFlag, Word
    uint32_t bytes = 0;    // Word: read past the cache, and what it held
    uint64_t word = 0;
    bool is_released = false;  // Word: nobody else can go on
    int32_t value = 0;
    bool is_exact = false;
};

}  // namespace vnpu
