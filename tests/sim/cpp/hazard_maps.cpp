/* Reads accesses and prints what the two maps of a core find: a line `map begin end pipe is_write number` each, `map` o (OnChipMap) or g (AccessMap). */
#include <cstdio>
#include <iostream>

#include "hazard.h"
#include "on_chip_map.h"

namespace {

template <class Map>
void access(Map &map, uint64_t begin, uint64_t end, uint8_t pipe, bool is_write, uint32_t number) {
    // Nobody knows anything complete, so that every earlier access is a conflict.
    map.conflicts(begin, end, pipe, is_write, vnpu::Clocks(), [&](const vnpu::Conflict &found) {
        std::printf("%llu %llu %u %d %u ", static_cast<unsigned long long>(found.begin), static_cast<unsigned long long>(found.end), unsigned{found.pipe},
                    found.was_write ? 1 : 0, found.access.number);
    });
    std::printf("\n");
    const vnpu::Access made{number, 0};
    is_write ? map.write(begin, end, pipe, made) : map.read(begin, end, pipe, made);
}

}  // namespace

int main() {
    vnpu::OnChipMap on_chip;
    vnpu::AccessMap global;
    char which = 0;
    for (uint64_t begin = 0, end = 0, pipe = 0, is_write = 0, number = 0; std::cin >> which >> begin >> end >> pipe >> is_write >> number;) {
        if (which == 'o')
            access(on_chip, begin, end, static_cast<uint8_t>(pipe), is_write != 0, static_cast<uint32_t>(number));
        else
            access(global, begin, end, static_cast<uint8_t>(pipe), is_write != 0, static_cast<uint32_t>(number));
    }
    std::fprintf(stderr, "%zu\n", on_chip.histories());
}
