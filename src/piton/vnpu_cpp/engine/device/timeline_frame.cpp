#include "timeline_frame.h"

#include <map>

#include "../diagnostics.h"
#include "../dtypes.h"
#include "../wire.h"

namespace vnpu::device {
namespace {

constexpr uint32_t kRepeatBytes = 256;
constexpr uint32_t kBlockBytes = 32;

// Names and files, each once.
class Strings {
public:
    uint16_t index(const std::string &text) {
        const auto [found, is_new] = known_.try_emplace(text, static_cast<uint16_t>(all_.size()));
        if (is_new) all_.push_back(text);
        return found->second;
    }
    const std::vector<std::string> &all() const { return all_; }

private:
    std::vector<std::string> all_;
    std::map<std::string, uint16_t> known_;
};

bool is_copy(uint16_t opcode) { return opcode == VNPU_OP_DATA_COPY || opcode == VNPU_OP_DATA_COPY_PAD; }

// Instructions whose vector operands all take an element per element.
bool is_elementwise(uint16_t opcode) { return opcode >= VNPU_OP_ADD && opcode <= VNPU_OP_DUPLICATE; }

uint32_t widest(const vnpu_record &record) {
    uint32_t width = 1;
    for (const vnpu_operand *operand : {&record.dst, &record.src0, &record.src1})
        if (operand->space == VNPU_SPACE_UB) width = std::max(width, dtype_bytes(operand->dtype));
    return width;
}

// Bytes from the first to the last block that a vector operand may touch; masks are not looked at.
uint64_t vector_bytes(const vnpu_record &record, const vnpu_operand &operand, uint64_t repeats) {
    const uint64_t element = dtype_bytes(operand.dtype);
    if (record.flags & VNPU_F_COUNT) return record.p[0] * element;
    if (repeats == 0 || element == 0) return 0;
    const uint64_t blocks = std::max<uint64_t>(1, kRepeatBytes / kBlockBytes * element / widest(record));
    return ((repeats - 1) * operand.rep + (blocks - 1) * operand.blk + 1) * kBlockBytes;
}

bool is_scalar(uint16_t opcode) {
    return opcode == VNPU_OP_SCALAR_LOAD || opcode == VNPU_OP_SCALAR_STORE || opcode == VNPU_OP_PAST_CACHE_LOAD || opcode == VNPU_OP_PAST_CACHE_STORE;
}

// Extent of an operand; 0 when it is not known.
uint64_t operand_bytes(const vnpu_record &record, const vnpu_operand &operand, const TraceEntry &entry) {
    if (operand.space == VNPU_SPACE_NONE) return 0;
    if (is_copy(record.opcode)) return static_cast<uint64_t>(record.p[0]) * record.p[1];
    if (is_scalar(record.opcode)) return record.p[0];
    return is_elementwise(record.opcode) ? vector_bytes(record, operand, entry.repeats) : 0;
}

bool is_sync(TraceKind kind) { return kind == TraceKind::SetFlag || kind == TraceKind::WaitFlag || kind == TraceKind::Barrier; }

// What the user wrote; for flags that come with another call, the flag.
std::string name_of(const TraceEntry &entry, const vnpu_record &record) {
    const bool is_inserted = is_sync(entry.kind) && (record.opcode < VNPU_OP_SET_FLAG || record.opcode > VNPU_OP_BARRIER);
    if (!is_inserted) return api_name(place_of(record));
    if (entry.kind == TraceKind::Barrier) return "PipeBarrier";
    return entry.kind == TraceKind::SetFlag ? "SetFlag" : "WaitFlag";
}

void put_operand(wire::Writer &out, const vnpu_record &record, const vnpu_operand &operand, const TraceEntry &entry) {
    out.put(operand.space).put(operand.dtype).put(operand.addr).put(operand_bytes(record, operand, entry));
}

void put_entry(wire::Writer &out, const TraceEntry &entry, const vnpu_record &record, Strings &strings) {
    out.put(static_cast<uint8_t>(entry.kind)).put(entry.pipe).put(entry.src_pipe).put(entry.dst_pipe).put(entry.event).put(entry.flags).put(record.flags);
    out.put(strings.index(name_of(entry, record))).put(strings.index(place_of(record).file)).put(record.line);
    out.put(entry.cycles).put(entry.repeats).put(entry.block_bytes).put(entry.gm_gap);
    out.put(record.flags & VNPU_F_COUNT ? record.p[0] : 0u).put(record.mask[0]).put(record.mask[1]);
    for (const vnpu_operand *operand : {&record.dst, &record.src0, &record.src1}) put_operand(out, record, *operand, entry);
}

void put_slice(wire::Writer &out, const Slice &slice) {
    out.put(slice.begin).put(slice.end).put(slice.entry).put(slice.pipe).put(static_cast<uint8_t>(slice.kind)).put(slice.reason).put(slice.cause);
    out.put(slice.queued).put(slice.l2_bytes).put(slice.memory_bytes);
}

template <typename Items, typename Put>
void put_list(wire::Writer &out, const Items &items, Put put) {
    out.put(static_cast<uint32_t>(items.size()));
    for (const auto &item : items) put(item);
}

void put_block(wire::Writer &out, const BlockTimeline &block, Strings &strings) {
    out.put(block.block).put(block.begin).put(block.end).put(block.gap_begin).put(block.gap_end).put(block.window.size).put(block.window.left_out());
    out.put(static_cast<uint32_t>(block.entries.size()));
    for (size_t at = 0; at < block.entries.size(); ++at) put_entry(out, block.entries[at], block.records[at], strings);
    put_list(out, block.slices, [&](const Slice &slice) { put_slice(out, slice); });
    put_list(out, block.arrows, [&](const Arrow &arrow) { out.put(arrow.from).put(arrow.to).put(arrow.src_pipe).put(arrow.dst_pipe).put(arrow.event); });
    put_list(out, block.uses, [&](const UbUse &use) { out.put(use.time).put(use.given_out).put(use.in_use); });
}

void put_bin(wire::Writer &out, const TrafficBin &bin) {
    for (const uint64_t moved : bin.moved) out.put(moved);
    out.put(bin.hit_bytes).put(bin.load_bytes);
}

}  // namespace

std::string timeline_frame(const LaunchTimeline &timeline) {
    Strings strings;
    wire::Writer blocks;
    put_list(blocks, timeline.blocks, [&](const BlockTimeline &block) { put_block(blocks, block, strings); });
    wire::Writer out;
    out.put(static_cast<uint8_t>(timeline.core_kind)).put(timeline.cycles).put(timeline.bin_cycles);
    put_list(out, strings.all(), [&](const std::string &text) { out.text(text); });
    put_list(out, timeline.traffic, [&](const TrafficBin &bin) { put_bin(out, bin); });
    return out.body() + blocks.body();
}

}  // namespace vnpu::device
