#include "unordered.h"

#include <iterator>

namespace vnpu {

void UnorderedWrites::add(const UnorderedWrite &write) {
    clear(write.begin, write.end);
    writes_.emplace(write.begin, write);
}

void UnorderedWrites::clear(uint64_t begin, uint64_t end) {
    if (writes_.empty()) return;
    split(begin);
    split(end);
    writes_.erase(writes_.lower_bound(begin), writes_.lower_bound(end));
}

const UnorderedWrite *UnorderedWrites::find(uint64_t begin, uint64_t end) const {
    auto next = writes_.upper_bound(begin);
    if (next != writes_.begin() && std::prev(next)->second.end > begin) --next;
    return next != writes_.end() && next->first < end ? &next->second : nullptr;
}

void UnorderedWrites::split(uint64_t at) {
    auto next = writes_.lower_bound(at);
    if (next == writes_.begin()) return;
    UnorderedWrite &before = std::prev(next)->second;
    if (before.end <= at) return;
    UnorderedWrite rest = before;
    rest.begin = at;
    before.end = at;
    writes_.emplace_hint(next, at, rest);
}

}  // namespace vnpu
