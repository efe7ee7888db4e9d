/*
 * Reads launches as text and prints what the timing model says about them, one JSON object per line.
 *
 *   timing_driver CHIP_TABLE < script
 *
 * Entries go to the current core; every word is separated by blanks, numbers are decimal:
 *   core                                      start the next block
 *   work PIPE CYCLES | issue PIPE CYCLES ISSUE
 *   read ADDR BLOCKS BYTES GAP BYPASS | write ...   made by cost_of from a DataCopyPad record
 *   readl1 ADDR BLOCKS BYTES GAP BYPASS             the same into L1
 *   vector OPCODE DTYPE DST SRC0 SRC1 REPEATS (SRC1 < 0: unary) | strided ... BLK0 REP0 BLK1 REP1 BLKD REPD
 *   mmad DTYPE PAIRS | loaddata SPACE BYTES | fixpipe ADDR ROWS COLUMNS PITCH DTYPE   (PITCH in bytes)
 *   load SPACE ADDR | store SPACE ADDR        scalar accesses of 4 bytes
 *   setup                                     the construction of a TPipe
 *   code CYCLES                               of the kernel's own code, before the entry that follows
 *   set SRC DST ID | wait SRC DST ID | barrier PIPE | sync [WHO] | crossset PIPE ID [MODE] | crosswait ID
 * Commands:
 *   launch    replay the cores given since the last launch     repeat    the same cores once more
 *   cost      print the cycles of the last entry               cold      empty the L2        kind K    core kind of the launch
 *   copy BYTES   cycles of a device-to-device copy
 *   record LIMIT   from here on each launch also prints its timeline, with at most LIMIT instructions (0: no more)
 */
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "timing.h"

namespace {

using namespace vnpu;

constexpr int kFlows = 5;  // of TrafficBin

class Driver {
public:
    explicit Driver(const std::string &table) : chip_(parse_chip(table)), memory_(cold_memory(*chip_)) {}

    void line(const std::string &text) {
        std::istringstream words(text);
        std::string name;
        if (!(words >> name)) return;
        if (command(name, words)) return;
        TraceEntry next = entry(name, words);
        next.code_cycles = std::exchange(code_, 0);
        current().push_back(next);
    }

private:
    CoreTrace &current() {
        if (trace_.cores.empty()) trace_.cores.emplace_back();
        return trace_.cores.back();
    }

    bool command(const std::string &name, std::istringstream &words) {
        if (name == "core")
            next_core();
        else if (name == "launch" || name == "repeat")
            launch();
        else if (name == "cost")
            std::printf("{\"cycles\": %u, \"issue\": %u}\n", current().back().cycles, current().back().issue_cycles);
        else if (name == "cold")
            memory_ = cold_memory(*chip_);
        else if (name == "kind")
            words >> trace_.core_kind;
        else if (name == "record")
            recorded_ = static_cast<uint32_t>(number(words));
        else if (name == "code")
            code_ = static_cast<uint32_t>(number(words));
        else if (name == "copy")
            std::printf("{\"cycles\": %" PRIu64 "}\n", copy_cycles(*chip_, number(words), *memory_));
        else
            return false;
        return true;
    }

    void next_core() {
        if (is_launched_) trace_.cores.clear();
        is_launched_ = false;
        trace_.cores.emplace_back();
    }

    void launch() {
        is_launched_ = true;
        try {
            LaunchTimeline timeline = recorded_ ? new_timeline() : LaunchTimeline();
            print(replay(*chip_, trace_, *memory_, recorded_ ? &timeline : nullptr));
            if (recorded_) print(timeline);
        } catch (const std::runtime_error &error) {
            std::printf("{\"error\": \"%s\"}\n", error.what());
        }
    }

    LaunchTimeline new_timeline() const {
        LaunchTimeline timeline;
        const std::vector<uint32_t> blocks = recorded_blocks({true, recorded_, {}}, static_cast<uint32_t>(trace_.cores.size()));
        for (const uint32_t block : blocks) {
            timeline.blocks.emplace_back();
            timeline.blocks.back().block = block;
            timeline.blocks.back().notes = Notebook(recorded_ / blocks.size());
            for (uint32_t entry = 0; entry < trace_.cores[block].size(); ++entry) {
                vnpu_record record = {};
                record.line = entry + 1;
                timeline.blocks.back().notes.keep(record);
            }
        }
        return timeline;
    }

    // One line of JSON: blocks with [begin, end, line, pipe, kind, reason, cause] of their slices, [from, to] of their arrows; bytes moved per bin.
    static void print(const LaunchTimeline &timeline) {
        std::printf("{\"cycles\": %" PRIu64 ", \"bin\": %" PRIu64 ", \"blocks\": [", timeline.cycles, timeline.bin_cycles);
        for (const BlockTimeline &block : timeline.blocks) print(block, &block == &timeline.blocks.front());
        std::printf("], \"traffic\": [");
        for (const TrafficBin &bin : timeline.traffic) print_list(&bin == &timeline.traffic.front() ? "" : ", ", bin.moved.data(), kFlows);
        std::printf("]}\n");
    }

    static void print(const BlockTimeline &block, bool is_first) {
        std::printf("%s{\"block\": %u, \"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"left_out\": %" PRIu64, is_first ? "" : ", ", block.block, block.begin,
                    block.end, block.window.left_out());
        std::printf(", \"gap\": [%" PRIu64 ", %" PRIu64 "], \"slices\": [", block.gap_begin, block.gap_end);
        for (const Slice &slice : block.slices) {
            const uint32_t line = slice.entry == kNothing ? 0 : block.records[slice.entry].line;
            std::printf("%s[%" PRIu64 ", %" PRIu64 ", %u, %u, %u, %u, %u]", &slice == &block.slices.front() ? "" : ", ", slice.begin, slice.end, line,
                        slice.pipe, static_cast<unsigned>(slice.kind), slice.reason, slice.cause);
        }
        std::printf("], \"arrows\": [");
        for (const Arrow &arrow : block.arrows) std::printf("%s[%u, %u]", &arrow == &block.arrows.front() ? "" : ", ", arrow.from, arrow.to);
        std::printf("]}");
    }

    static void print(const LaunchTiming &t) {
        std::printf("{\"cycles\": %" PRIu64 ", \"kernel\": %" PRIu64, t.cycles, t.kernel_cycles);
        std::printf(", \"read\": %" PRIu64 ", \"written\": %" PRIu64 ", \"hbm\": %" PRIu64 ", \"l2\": %" PRIu64, t.gm_read_bytes, t.gm_written_bytes,
                    t.hbm_bytes, t.l2_bytes);
        print_pipes("busy", t.busy);
        print_pipes("stall", t.stall);
        std::printf(", \"cores\": %u, \"wait\": [", t.cores);
        for (int pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) print_list(pipe == 0 ? "" : ", ", t.wait[pipe], kWaitReasons);
        std::printf("], \"lost\": [");
        for (int pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) print_list(pipe == 0 ? "" : ", ", t.lost[pipe], kLossReasons);
        std::printf("]}\n");
    }

    static void print_pipes(const char *name, const uint64_t *values) {
        std::printf(", \"%s\": ", name);
        print_list("", values, VNPU_PIPE_COUNT);
    }

    static void print_list(const char *before, const uint64_t *values, int count) {
        std::printf("%s[", before);
        for (int at = 0; at < count; ++at) std::printf("%s%" PRIu64, at == 0 ? "" : ", ", values[at]);
        std::printf("]");
    }

    static uint64_t number(std::istringstream &words) {
        int64_t value = 0;
        if (!(words >> value)) throw std::runtime_error("a number is missing");
        return static_cast<uint64_t>(value);
    }

    TraceEntry entry(const std::string &name, std::istringstream &words) {
        if (name == "read" || name == "write" || name == "readl1") return transfer(name, words);
        if (name == "vector" || name == "strided") return vector(name == "strided", words);
        if (name == "load" || name == "store") return scalar(name == "load", words);
        if (name == "setup") return setup();
        if (name == "mmad") return mmad(words);
        if (name == "loaddata") return load_data(words);
        if (name == "fixpipe") return fixpipe(words);
        return plain(name, words);
    }

    TraceEntry plain(const std::string &name, std::istringstream &words) {
        TraceEntry e;
        const bool is_flag = name == "set" || name == "wait";
        if (name == "work" || name == "issue")
            e.kind = TraceKind::Work;
        else if (is_flag)
            e.kind = name == "set" ? TraceKind::SetFlag : TraceKind::WaitFlag;
        else if (name == "barrier")
            e.kind = TraceKind::Barrier;
        else if (name == "sync")
            e.kind = TraceKind::SyncAll;
        else if (name == "crossset")
            e.kind = TraceKind::CrossSet;
        else if (name == "crosswait")
            e.kind = TraceKind::CrossWait;
        else
            throw std::runtime_error("unknown word " + name);
        if (is_flag)
            e.src_pipe = static_cast<uint8_t>(number(words)), e.dst_pipe = static_cast<uint8_t>(number(words));
        else if (name != "sync" && name != "crosswait")
            e.pipe = static_cast<uint8_t>(number(words));
        if (e.kind == TraceKind::Work) e.cycles = static_cast<uint32_t>(number(words));
        if (name == "issue") e.issue_cycles = static_cast<uint32_t>(number(words));
        if (is_flag || e.kind == TraceKind::CrossSet || e.kind == TraceKind::CrossWait) e.event = static_cast<uint8_t>(number(words));
        uint32_t given = 0;
        if (e.kind == TraceKind::CrossSet && words >> given) e.cross_mode = given;
        if (e.kind == TraceKind::SyncAll && words >> given) e.event = static_cast<uint8_t>(given);
        return e;
    }

    TraceEntry transfer(const std::string &name, std::istringstream &words) {
        const bool is_read = name != "write";
        vnpu_record r = {};
        r.opcode = VNPU_OP_DATA_COPY_PAD;
        r.pipe = is_read ? VNPU_PIPE_MTE2 : VNPU_PIPE_MTE3;
        vnpu_operand &gm = is_read ? r.src0 : r.dst;
        (is_read ? r.dst : r.src0).space = name == "readl1" ? VNPU_SPACE_L1 : VNPU_SPACE_UB;
        gm.space = VNPU_SPACE_GM;
        gm.addr = number(words);
        r.p[0] = static_cast<uint32_t>(number(words));
        r.p[1] = static_cast<uint32_t>(number(words));
        r.p[is_read ? 2 : 3] = static_cast<uint32_t>(number(words));
        if (number(words) != 0) r.flags |= VNPU_F_L2_BYPASS;
        return cost_of(*chip_, r, 1, static_cast<uint64_t>(r.p[0]) * r.p[1]);
    }

    TraceEntry vector(bool is_strided, std::istringstream &words) {
        vnpu_record r = {};
        r.pipe = VNPU_PIPE_V;
        r.flags = is_strided ? VNPU_F_SET_MASK : VNPU_F_COUNT;
        r.opcode = static_cast<uint16_t>(number(words));
        const uint8_t dtype = static_cast<uint8_t>(number(words));
        for (vnpu_operand *operand : {&r.dst, &r.src0, &r.src1}) {
            operand->addr = number(words);
            operand->dtype = dtype;
            operand->space = static_cast<int64_t>(operand->addr) < 0 ? VNPU_SPACE_NONE : VNPU_SPACE_UB;
        }
        const uint32_t repeats = static_cast<uint32_t>(number(words));
        for (vnpu_operand *operand : {&r.src0, &r.src1, &r.dst}) {
            if (!is_strided) break;
            operand->blk = static_cast<uint16_t>(number(words));
            operand->rep = static_cast<uint16_t>(number(words));
        }
        return cost_of(*chip_, r, repeats, static_cast<uint64_t>(repeats) * 64);
    }

    TraceEntry setup() {
        vnpu_record r = {};
        r.opcode = VNPU_OP_PIPE_BEGIN;
        return cost_of(*chip_, r, 0, 0);
    }

    TraceEntry mmad(std::istringstream &words) {
        vnpu_record r = {};
        r.opcode = VNPU_OP_MMAD;
        r.src0.dtype = static_cast<uint8_t>(number(words));
        const auto pairs = static_cast<uint32_t>(number(words));
        return cost_of(*chip_, r, pairs, pairs);
    }

    TraceEntry load_data(std::istringstream &words) {
        vnpu_record r = {};
        r.opcode = VNPU_OP_LOAD_DATA;
        r.dst.space = static_cast<uint8_t>(number(words));
        return cost_of(*chip_, r, 1, number(words));
    }

    TraceEntry fixpipe(std::istringstream &words) {
        vnpu_record r = {};
        r.opcode = VNPU_OP_FIXPIPE;
        r.dst.addr = number(words);
        r.p[0] = static_cast<uint32_t>(number(words));
        r.p[1] = static_cast<uint32_t>(number(words));
        r.p[3] = static_cast<uint32_t>(number(words));
        r.dst.dtype = static_cast<uint8_t>(number(words));
        return cost_of(*chip_, r, r.p[0], static_cast<uint64_t>(r.p[0]) * r.p[1]);
    }

    TraceEntry scalar(bool is_load, std::istringstream &words) {
        vnpu_record r = {};
        r.opcode = is_load ? VNPU_OP_SCALAR_LOAD : VNPU_OP_SCALAR_STORE;
        vnpu_operand &operand = is_load ? r.src0 : r.dst;
        operand.space = static_cast<uint8_t>(number(words));
        operand.addr = number(words);
        r.p[0] = 4;
        return cost_of(*chip_, r, 1, 1);
    }

    std::shared_ptr<const ChipModel> chip_;
    std::shared_ptr<MemoryState> memory_;
    LaunchTrace trace_;
    bool is_launched_ = false;
    uint32_t recorded_ = 0;  // instructions kept of each launch
    uint32_t code_ = 0;      // cycles of scalar code before the next entry
};

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: timing_driver CHIP_TABLE < script\n"), 2;
    std::ifstream file(argv[1]);
    std::stringstream table;
    table << file.rdbuf();
    try {
        Driver driver(table.str());
        for (std::string line; std::getline(std::cin, line);) driver.line(line);
    } catch (const std::runtime_error &error) {
        return std::fprintf(stderr, "%s\n", error.what()), 1;
    }
    return 0;
}
