#include "freed.h"

#include <iterator>

namespace vnpu {

void FreedTensors::know(uint32_t handle, uint64_t begin, uint64_t end) {
    buffers_[handle] = {begin, end};
    forget(buffers_[handle]);
}

void FreedTensors::forget(const Bytes &bytes) {
    auto next = freed_.upper_bound(bytes.begin);
    if (next != freed_.begin() && std::prev(next)->second.end > bytes.begin) --next;
    while (next != freed_.end() && next->first < bytes.end) next = freed_.erase(next);
}

void FreedTensors::acquire(uint32_t handle) {
    const auto buffer = buffers_.find(handle);
    if (buffer != buffers_.end()) forget(buffer->second);
}

void FreedTensors::release(uint32_t handle, const Place &place) {
    const auto buffer = buffers_.find(handle);
    if (buffer == buffers_.end()) return;
    forget(buffer->second);
    freed_[buffer->second.begin] = {buffer->second.end, place};
}

const FreedTensors::Freed *FreedTensors::find(uint64_t begin, uint64_t end) const {
    auto next = freed_.upper_bound(begin);
    if (next != freed_.begin() && std::prev(next)->second.end > begin) --next;
    return next != freed_.end() && next->first < end ? &next->second : nullptr;
}

void FreedTensors::clear() {
    buffers_.clear();
    freed_.clear();
}

}  // namespace vnpu
