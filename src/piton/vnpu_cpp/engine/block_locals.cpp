#include "block_locals.h"

#include <cstring>
#include <map>

namespace vnpu {

namespace {

// As the library was loaded: taken ahead of the first kernel that could change them.
const std::vector<uint8_t> &initial_values(const uint8_t *place, uint32_t bytes) {
    static std::map<const uint8_t *, std::vector<uint8_t>> known;
    const auto found = known.find(place);
    return found != known.end() ? found->second : known.emplace(place, std::vector<uint8_t>(place, place + bytes)).first->second;
}

}  // namespace

BlockLocals::BlockLocals(const vnpu_kernel &kernel) : place_(static_cast<uint8_t *>(kernel.locals)) {
    if (place_ && kernel.local_bytes) own_ = initial_values(place_, kernel.local_bytes);
}

void BlockLocals::enter() {
    if (!own_.empty()) std::memcpy(place_, own_.data(), own_.size());
}

void BlockLocals::leave() {
    if (!own_.empty()) std::memcpy(own_.data(), place_, own_.size());
}

}  // namespace vnpu
