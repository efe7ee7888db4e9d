/*
 * TransDataTo5HD and Transpose: 16 blocks of 32 bytes through 16 others, element by element.
 *
 * TransDataTo5HD works between two lists of 16 addresses, which registers hold: with 2-byte elements block j of the destination gets element j of every
 * source; 4-byte ones fill two blocks per element, 1-byte ones half a block from half a block (documentation page of TransDataTo5HD). A single repeat starts
 * one repeat stride behind the addresses, as the page says. Transpose between NCHW and NHWC is a composition of these that is not published: its result is
 * computed directly, it is charged as the instructions that its size needs, and its scratch memory is written.
 */
#include <cstring>

#include "footprint.h"

namespace vnpu {

namespace {

constexpr uint32_t kSide = 16;                                       // addresses of a list; side of the square that Transpose turns
constexpr uint32_t kPassBytes = 512;                                 // 16 blocks
enum Half : uint32_t { kHighDestination = 1, kHighSource = 2 };      // p[3] of TRANS_5HD
enum Turn : uint32_t { kSquare, kNchwToNhwc, kNhwcToNchw, kTurns };  // p[3] of TRANSPOSE

struct Move {
    uint64_t from, to;
};

// All is read before anything is written: source and destination may be the same.
void carry_out(Core &core, const std::vector<Move> &moves, uint32_t bytes) {
    std::vector<uint64_t> values(moves.size());
    std::vector<bool> undefined(moves.size());
    for (size_t at = 0; at < moves.size(); ++at) {
        std::memcpy(&values[at], core.ub.data() + moves[at].from, bytes);
        undefined[at] = core.undefined.any(moves[at].from, moves[at].from + bytes);
    }
    for (size_t at = 0; at < moves.size(); ++at) {
        const uint64_t to = moves[at].to;
        std::memcpy(core.ub.data() + to, &values[at], bytes);
        undefined[at] ? core.undefined.set(to, to + bytes) : core.undefined.clear(to, to + bytes);
    }
}

uint64_t block_at(const Core &core, uint32_t list, uint32_t block, uint64_t offset) { return core.addresses[list][block] * uint64_t(kBlockBytes) + offset; }

// 1-byte elements fill half a block.
uint64_t half_of(const vnpu_record &record, uint32_t bytes, Half high) { return bytes == 1 && (record.p[3] & high) ? kSide : 0; }

void add_blocks(const Core &core, const vnpu_record &record, uint32_t bytes, uint64_t from, uint64_t to, Footprint &footprint) {
    const uint32_t length = bytes == 1 ? kSide : kBlockBytes;
    for (uint32_t block = 0; block < kSide; ++block) footprint.read(block_at(core, 0, block, from) + half_of(record, bytes, kHighSource), length);
    for (uint32_t block = 0; block < kSide; ++block) footprint.write(block_at(core, 1, block, to) + half_of(record, bytes, kHighDestination), length);
}

void check_list(Core &core, const vnpu_record &record, uint32_t list, uint64_t last_offset) {
    for (uint32_t block = 0; block < kSide; ++block) {
        vnpu_operand operand = record.dst;
        operand.addr = block_at(core, list, block, 0);
        operand.limit = 0xffffffffu;
        check_ub(core, record, operand, last_offset + kBlockBytes, list == 1);
    }
}

// Elements of one repeat; `offsets` in bytes behind the addresses of source and destination.
std::vector<Move> moves_of(const Core &core, const vnpu_record &record, uint32_t bytes, uint64_t from, uint64_t to) {
    const uint32_t per_source = bytes == 1 ? kSide : kBlockBytes / bytes;
    const uint64_t half_from = half_of(record, bytes, kHighSource), half_to = half_of(record, bytes, kHighDestination);
    std::vector<Move> moves;
    for (uint32_t element = 0; element < per_source; ++element) {
        for (uint32_t source = 0; source < kSide; ++source) {
            const uint32_t flat = element * kSide + source, per_block = bytes == 4 ? 8 : kSide;
            moves.push_back({block_at(core, 0, source, from) + half_from + static_cast<uint64_t>(element) * bytes,
                             block_at(core, 1, flat / per_block, to) + half_to + static_cast<uint64_t>(flat % per_block) * bytes});
        }
    }
    return moves;
}

// ---- Transpose ----
struct Shape {
    uint32_t n, rows, columns;  // n matrices, each turned by itself
};

Shape shape_of(const vnpu_record &record) {
    const uint32_t c = record.p[1] & 0xffff, hw = record.p[1] >> 16;
    if (record.p[3] == kSquare) return {1, kSide, kSide};
    return record.p[3] == kNchwToNhwc ? Shape{record.p[0], c, hw} : Shape{record.p[0], hw, c};
}

std::vector<Move> turned(const vnpu_record &record, const Shape &shape, uint32_t bytes) {
    std::vector<Move> moves;
    for (uint32_t n = 0; n < shape.n; ++n) {
        const uint64_t matrix = static_cast<uint64_t>(n) * shape.rows * shape.columns;
        for (uint32_t row = 0; row < shape.rows; ++row)
            for (uint32_t column = 0; column < shape.columns; ++column)
                moves.push_back({record.src0.addr + (matrix + static_cast<uint64_t>(row) * shape.columns + column) * bytes,
                                 record.dst.addr + (matrix + static_cast<uint64_t>(column) * shape.rows + row) * bytes});
    }
    return moves;
}

void use_scratch(Core &core, const vnpu_record &record, Footprint &footprint) {
    if (record.p[3] == kSquare) return;
    check_operand(core, record, record.src1, record.src1.addr + record.p[2], true);
    footprint.write(record.src1.addr, record.p[2]);
    if (core.moves_data()) core.undefined.set(record.src1.addr, record.src1.addr + record.p[2]);
}

void check_turn(Core &core, const vnpu_record &record, uint64_t bytes) {
    check_operand(core, record, record.dst, record.dst.addr + bytes, true);
    check_operand(core, record, record.src0, record.src0.addr + bytes, false);
    const bool is_apart = record.src0.addr + bytes <= record.dst.addr || record.dst.addr + bytes <= record.src0.addr;
    if (!is_apart && (record.p[3] != kSquare || record.src0.addr != record.dst.addr))
        core.fail(record, "bad_overlap", "Transpose: destination and source overlap; only 16 x 16 may be turned in place",
                  {{"dst_address", static_cast<int64_t>(record.dst.addr)}, {"src_address", static_cast<int64_t>(record.src0.addr)}});
}

// The tiles of 16 x 16 (two passes for 4-byte elements, see above) that the matrices are cut into.
uint32_t passes_of(const Shape &shape, uint32_t bytes) {
    const uint32_t tiles = shape.n * ((shape.rows + kSide - 1) / kSide) * ((shape.columns + kSide - 1) / kSide);
    return tiles * (bytes == 4 ? 2 : 1);
}

void charge(Core &core, const vnpu_record &record, uint32_t passes) {
    vnpu_record cost = record;
    cost.dst.space = cost.src0.space = cost.src1.space = VNPU_SPACE_NONE;
    core.append(cost_of(core.launch.chip, cost, passes, passes * kPassBytes));
}

}  // namespace

void run_trans_5hd(Core &core, const vnpu_record &record) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype), repeats = record.p[0];
    if (bytes == 0 || bytes > 4) core.fail(record, "unsupported_api", "TransDataTo5HD does not exist for this dtype", {{"dtype", record.dst.dtype}});
    if (repeats > kMaxRepeats) core.fail(record, "bad_parameter", "TransDataTo5HD: repeatTimes above 255", {{"repeats", repeats}});
    const auto offset = [&](uint32_t stride, uint32_t repeat) { return static_cast<uint64_t>(repeats == 1 ? 1 : repeat) * stride * kBlockBytes; };
    Footprint footprint;
    std::vector<std::vector<Move>> all;
    for (uint32_t repeat = 0; repeat < repeats; ++repeat, footprint.next()) {
        if (repeat + 1 == repeats) {
            check_list(core, record, 0, offset(record.p[1], repeat));
            check_list(core, record, 1, offset(record.p[2], repeat));
        }
        all.push_back(moves_of(core, record, bytes, offset(record.p[1], repeat), offset(record.p[2], repeat)));
        add_blocks(core, record, bytes, offset(record.p[1], repeat), offset(record.p[2], repeat), footprint);
    }
    footprint.settle(core, record);
    for (const std::vector<Move> &moves : all)
        if (core.moves_data()) carry_out(core, moves, bytes);
    charge(core, record, repeats);
}

void run_transpose(Core &core, const vnpu_record &record) {
    const uint32_t bytes = dtype_bytes(record.dst.dtype);
    if (bytes == 0 || bytes > 4 || record.p[3] >= kTurns)
        core.fail(record, "unsupported_api", "Transpose does not exist for this dtype and kind", {{"dtype", record.dst.dtype}});
    const Shape shape = shape_of(record);
    const uint64_t elements = static_cast<uint64_t>(shape.n) * shape.rows * shape.columns;
    if (elements == 0) return charge(core, record, 0);
    check_turn(core, record, elements * bytes);
    const std::vector<Move> moves = turned(record, shape, bytes);
    Footprint footprint;
    footprint.read(record.src0.addr, elements * bytes);
    footprint.write(record.dst.addr, elements * bytes);
    use_scratch(core, record, footprint);
    footprint.settle(core, record);
    if (core.moves_data()) carry_out(core, moves, bytes);
    charge(core, record, passes_of(shape, bytes));
}

void set_addresses(Core &core, const vnpu_record &record) {
    const uint64_t words[4] = {record.mask[0], record.mask[1], record.scalar, record.p[1] | static_cast<uint64_t>(record.p[2]) << 32};
    for (uint32_t at = 0; at < kSide; ++at) core.addresses[record.p[3] & 1][at] = static_cast<uint16_t>(words[at / 4] >> (16 * (at % 4)));
}

}  // namespace vnpu
