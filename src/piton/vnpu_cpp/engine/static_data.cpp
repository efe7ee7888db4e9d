#include "static_data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "engine.h"

namespace vnpu {

namespace {

using Range = std::pair<uint8_t *, uint8_t *>;

struct Search {
    ElfW(Addr) base;
    std::vector<Range> writable;
    Range read_only = {};  // part of the first that the loader has closed after relocation
};

uint8_t *at(ElfW(Addr) address) { return reinterpret_cast<uint8_t *>(address); }

int look(dl_phdr_info *info, size_t, void *argument) {
    Search &search = *static_cast<Search *>(argument);
    if (info->dlpi_addr != search.base) return 0;
    const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    for (int index = 0; index < info->dlpi_phnum; ++index) {
        const ElfW(Phdr) &part = info->dlpi_phdr[index];
        const ElfW(Addr) begin = info->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
        if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) search.writable.push_back({at(begin), at(end)});
        if (part.p_type == PT_GNU_RELRO) search.read_only = {at(begin / page * page), at(end / page * page)};
    }
    return 1;
}

// What is left of a range without another one.
std::vector<Range> without(const Range &range, const Range &hole) {
    std::vector<Range> left;
    const Range before = {range.first, std::min(range.second, std::max(hole.first, range.first))};
    const Range after = {std::max(range.first, std::min(hole.second, range.second)), range.second};
    if (hole.first >= hole.second) return {range};
    if (before.first < before.second) left.push_back(before);
    if (after.first < after.second) left.push_back(after);
    return left;
}

std::vector<Range> without(const std::vector<Range> &ranges, const Range &hole) {
    std::vector<Range> left;
    for (const Range &range : ranges)
        for (const Range &part : without(range, hole)) left.push_back(part);
    return left;
}

}  // namespace

void StaticData::keep(void *library) {
    link_map *map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map) return;
    Search search;
    search.base = map->l_addr;
    dl_iterate_phdr(look, &search);
    std::vector<Range> ranges = without(search.writable, search.read_only);
    for (const std::string &name : kernel_names()) {
        const vnpu_kernel &kernel = *find_kernel(name);
        auto *locals = static_cast<uint8_t *>(kernel.locals);
        if (locals) ranges = without(ranges, {locals, locals + kernel.local_bytes});
    }
    for (const Range &range : ranges) keep_range(range.first, range.second);
}

void StaticData::keep_range(uint8_t *begin, uint8_t *end) { parts_.push_back({begin, std::vector<uint8_t>(begin, end)}); }

uint64_t StaticData::put_back() {
    uint64_t changed = 0;
    for (const Part &part : parts_) {
        if (std::memcmp(part.place, part.kept.data(), part.kept.size()) == 0) continue;
        for (size_t index = 0; index < part.kept.size(); ++index) changed += part.place[index] != part.kept[index];
        std::memcpy(part.place, part.kept.data(), part.kept.size());
    }
    return changed;
}

}  // namespace vnpu
