#include "access.h"

#include <algorithm>
#include <cstring>

#include "access_text.h"
#include "composite.h"
#include "other_cores.h"

namespace vnpu {

namespace {

std::string api(const vnpu_record &record) { return api_name(place_of(record)); }

}  // namespace

void check_pipe(Core &core, const vnpu_record &record) {
    if (record.pipe >= VNPU_PIPE_COUNT && record.opcode != VNPU_OP_BARRIER)
        core.fail(record, "protocol_violation", "a record for pipe " + std::to_string(record.pipe) + ", which does not exist");
}

namespace {

// Vector cores have the unified buffer, cube cores have L1 and what follows it (Ascend 910B: the two kinds are apart).
void check_has_memory(Core &core, const vnpu_record &record, uint8_t space) {
    if (space < VNPU_SPACE_UB || space > VNPU_SPACE_FB)
        core.fail(record, "unsupported_api", api(record) + " with an operand in this memory is not supported by the virtual NPU");
    if (core.is_cube() == (space != VNPU_SPACE_UB)) return;
    core.fail(record, "unsupported_api",
              api(record) + " uses " + on_chip(core, space).title + ", which a " + (core.is_cube() ? "cube" : "vector") +
                  " core does not have: this kernel is " +
                  (core.is_cube() ? "a cube kernel (__cube__ or KERNEL_TYPE_AIC_ONLY)"
                                  : "a vector kernel; declare it __cube__, or say KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY) first"));
}

}  // namespace

namespace {

// Says what is wrong with the access, if anything is. The words are made here alone: every operand of every instruction is checked.
void refuse_access(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    const OnChip memory = on_chip(core, operand.space);
    const std::string name = memory.name, what = api(record) + " " + verb(is_write) + " ";
    const auto address = static_cast<int64_t>(operand.addr), length = static_cast<int64_t>(bytes);
    if (operand.addr % alignment)
        core.fail(record, "misaligned",
                  what + name + " from byte " + std::to_string(operand.addr) + ", which is not a multiple of " + std::to_string(alignment),
                  {{"address", address}, {"alignment_bytes", static_cast<int64_t>(alignment)}});
    if (operand.limit != 0xffffffffu && bytes > operand.limit)
        core.fail(record, "out_of_bounds",
                  what + std::to_string(bytes - operand.limit) + " bytes past the end of its tensor: " + std::to_string(bytes) + " bytes from " + name +
                      " byte " + std::to_string(operand.addr) + ", where the tensor has " + std::to_string(operand.limit),
                  {{"address", address}, {"bytes", length}, {"tensor_bytes", operand.limit}});
    const uint64_t capacity = memory.bytes.size();
    core.fail(record, "out_of_bounds",
              what + std::to_string(operand.addr + bytes - capacity) + " bytes past the end of " + memory.title + " (" + std::to_string(capacity) + " bytes)",
              {{"address", address}, {"bytes", length}, {"capacity_bytes", static_cast<int64_t>(capacity)}});
}

bool is_all_undefined(const UndefinedBytes &undefined, const IntervalSet &spilt, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; ++at)
        if (!undefined.any(at, at + 1) && !spilt.covers(at, at + 1)) return false;
    return true;
}

// Memory around the cube unit is not shared out: a tensor there has the size that it was declared with, and whole fractals are loaded, multiplied and stored
// whatever that says. Where nobody has put anything behind it, nothing is lost; what is put there later is no part of it any more.
bool spills_into_nothing(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write) {
    if (operand.space < VNPU_SPACE_L0A || operand.space > VNPU_SPACE_L0C) return false;
    if (!core.moves_data()) return true;  // what lies there can't be told
    IntervalSet &spilt = core.cube_memory[operand.space].spilt;
    const uint64_t begin = operand.addr + operand.limit, end = operand.addr + bytes;
    if (is_write) spilt.remove(operand.addr, begin);
    if (!is_all_undefined(on_chip(core, operand.space).undefined, spilt, begin, end)) return false;
    if (is_write) spilt.add(begin, end);
    if (core.launch.reporter.has(place_of(record), "other")) return true;
    core.note(record, "other",
              describe(place_of(record)) + " " + verb(is_write) + " " + std::to_string(end - begin) + " bytes past the end of its tensor, which starts at " +
                  on_chip(core, operand.space).name + " byte " + std::to_string(operand.addr) + " and was declared with " + std::to_string(operand.limit) +
                  ": nothing lies there in this launch, so that nothing is lost; needed: a tensor of " + std::to_string(bytes) + " bytes, whole fractals",
              {{"bytes", static_cast<int64_t>(bytes)}, {"tensor_bytes", operand.limit}});
    return true;
}

}  // namespace

void check_on_chip(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    check_has_memory(core, record, operand.space);
    const uint64_t capacity = on_chip(core, operand.space).bytes.size();
    const bool fits = operand.addr <= capacity && bytes <= capacity - operand.addr && operand.addr % alignment == 0;
    const bool is_inside = operand.limit == 0xffffffffu || bytes <= operand.limit;
    const bool is_of_cube = operand.space >= VNPU_SPACE_L0A && operand.space <= VNPU_SPACE_L0C;
    if (fits && is_inside && is_write && is_of_cube) core.cube_memory[operand.space].spilt.remove(operand.addr, operand.addr + bytes);
    if (fits && (is_inside || spills_into_nothing(core, record, operand, bytes, is_write))) return;
    refuse_access(core, record, operand, bytes, is_write, alignment);
}

void check_ub(Core &core, const vnpu_record &record, const vnpu_operand &operand, uint64_t bytes, bool is_write, uint64_t alignment) {
    if (operand.space != VNPU_SPACE_UB)
        core.fail(record, "unsupported_api", api(record) + " with an operand outside the unified buffer is not supported by the virtual NPU");
    check_on_chip(core, record, operand, bytes, is_write, alignment);
}

Allocation &check_gm(Core &core, const vnpu_record &record, uint64_t address, uint64_t bytes, bool is_write) {
    Allocation *found = core.launch.memory.find(address, bytes);
    if (found) return *found;
    const Allocation *near = core.launch.memory.nearest(address);
    const std::string what = api(record) + " " + verb(is_write) + " " + std::to_string(bytes) + " bytes of global memory at " + hex(address);
    if (!near)
        core.fail(record, "out_of_bounds", what + ", below every allocation" + count_hint(core),
                  {{"address", static_cast<int64_t>(address)}, {"bytes", static_cast<int64_t>(bytes)}});
    const uint64_t end = near->address + near->bytes;
    core.fail(record, "out_of_bounds",
              what + ", " + std::to_string(address + bytes - end) + " bytes past the end of the allocation " + hex(near->address) + " + " +
                  std::to_string(near->bytes) + count_hint(core),
              {{"address", static_cast<int64_t>(address)},
               {"bytes", static_cast<int64_t>(bytes)},
               {"allocation_address", static_cast<int64_t>(near->address)},
               {"allocation_bytes", static_cast<int64_t>(near->bytes)},
               {"bytes_past_end", static_cast<int64_t>(address + bytes - end)}});
}

void report_undefined(Core &core, const vnpu_record &record, uint64_t begin, uint64_t end, const char *where, uint8_t space) {
    const OnChip memory = on_chip(core, space);
    const uint64_t first = memory.undefined.first(begin, end);
    if (first >= end || core.launch.reporter.has(place_of(record), "undefined_data")) return;
    core.report(record, "undefined_data",
                std::string(memory.name) + " byte " + std::to_string(first) + " was never given a value and reaches " + where + " through " + api(record) +
                    "; copy or Duplicate into it first, or leave it out of the count",
                {{"address", static_cast<int64_t>(first)}, {"begin", static_cast<int64_t>(begin)}, {"end", static_cast<int64_t>(end)}});
}

}  // namespace vnpu
