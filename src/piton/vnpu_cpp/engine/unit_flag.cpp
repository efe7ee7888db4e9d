#include "unit_flag.h"

#include "composite.h"

namespace vnpu {

void order_by_unit_flag(Core &core, const vnpu_record &record, uint8_t from, uint64_t begin, uint64_t end, bool is_write) {
    bool meets = false;
    on_chip(core, VNPU_SPACE_L0C).map.conflicts(begin, end, record.pipe, is_write, core.clocks, [&](const Conflict &conflict) {
        meets = meets || conflict.pipe == from;
    });
    if (meets) hidden_flag(core, record, from, record.pipe);
}

}  // namespace vnpu
