#include "bank_conflict.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vnpu {
namespace {

// Address layout of the unified buffer, public bank conflict example: bits 4:0 byte, 8:5 bank group, 15:9 row, 17:16 bank inside the group.
constexpr uint32_t kGroups = 16;
constexpr uint64_t kBankBytes = 1ull << 16;

struct Touched {
    uint64_t banks = 0;   // bit (bank * 16 + group)
    uint32_t groups = 0;  // bit group
    uint32_t cycles = 0;  // most blocks in one group: they follow each other
};

// Blocks side by side: at most one in each group.
Touched touched_dense(uint64_t first, uint32_t blocks) {
    Touched result;
    for (uint64_t block = first; block < first + blocks; ++block) {
        result.banks |= 1ull << ((block * 32 / kBankBytes) % 4 * kGroups + block % kGroups);
        result.groups |= 1u << (block % kGroups);
    }
    result.cycles = blocks ? 1 : 0;
    return result;
}

Touched touched(const BankOperand &operand, uint32_t repeat) {
    if (operand.blk == 1 && operand.blocks <= kGroups) return touched_dense(operand.addr / 32 + static_cast<uint64_t>(repeat) * operand.rep, operand.blocks);
    Touched result;
    uint32_t load[kGroups] = {};
    uint64_t previous = ~0ull;
    for (uint32_t k = 0; k < operand.blocks; ++k) {
        const uint64_t block = operand.addr / 32 + static_cast<uint64_t>(repeat) * operand.rep + static_cast<uint64_t>(k) * operand.blk;
        if (block == previous) continue;  // block stride 0 reads once
        previous = block;
        const uint32_t group = block % kGroups;
        const uint32_t bank = (block * 32 / kBankBytes) % 4;
        result.banks |= 1ull << (bank * kGroups + group);
        result.groups |= 1u << group;
        result.cycles = std::max(result.cycles, ++load[group]);
    }
    return result;
}

uint64_t end_of(const BankOperand &operand, uint32_t repeats) {
    const uint64_t blocks = static_cast<uint64_t>(repeats - 1) * operand.rep + static_cast<uint64_t>(operand.blocks - 1) * operand.blk + 1;
    return operand.addr + blocks * 32;
}

bool is_apart(const BankOperand &a, const BankOperand &b, uint32_t repeats) {
    if (a.blocks == 0 || b.blocks == 0) return true;
    const uint64_t a_first = a.addr / kBankBytes, a_last = (end_of(a, repeats) - 1) / kBankBytes;
    const uint64_t b_first = b.addr / kBankBytes, b_last = (end_of(b, repeats) - 1) / kBankBytes;
    return a_last < b_first || b_last < a_first;
}

bool is_dense(const BankOperand &operand) { return operand.blocks == 0 || (operand.blk == 1 && operand.rep == 8 && operand.blocks == 8); }

// Cycles of one repeat whose writes meet no read.
uint32_t lone_repeat(const Touched &dst, const Touched &src0, const Touched &src1, uint32_t compute) {
    const bool shares_group = (src0.groups & src1.groups) != 0;
    const uint32_t read = shares_group ? src0.cycles + src1.cycles : std::max(src0.cycles, src1.cycles);
    return std::max({read, dst.cycles, compute, 1u});
}

// The walk of one instruction: reads in order, each write `distance` cycles after its read.
class Walk {
public:
    Walk(const BankOperand &dst, uint32_t repeats, uint32_t distance) : dst_(dst), distance_(distance) { ends_.reserve(repeats); }

    void repeat(const Touched &src0, const Touched &src1, uint32_t cycles) {
        const bool in_turn = (src0.groups & src1.groups) != 0;
        const uint32_t second = in_turn ? src0.cycles : 0;  // cycle in which src1 starts to be read
        for (uint32_t k = 0; k < cycles; ++k) {
            const uint64_t first_banks = k < src0.cycles ? src0.banks : 0;
            const uint64_t second_banks = k >= second && k - second < src1.cycles ? src1.banks : 0;
            read(first_banks | second_banks);
        }
        ends_.push_back(now_ - 1);
    }

    uint64_t cycles() const { return now_; }

private:
    void read(uint64_t banks) {
        while (written(now_) & banks) ++now_;
        ++now_;
    }

    // Banks that are written in cycle `cycle`, which never decreases from call to call.
    uint64_t written(uint64_t cycle) {
        while (next_ < ends_.size() && ends_[next_] + distance_ < cycle) ++next_;
        if (next_ == ends_.size() || ends_[next_] + distance_ != cycle) return 0;
        return touched(dst_, next_).banks;
    }

    const BankOperand &dst_;
    uint64_t distance_;
    std::vector<uint64_t> ends_;  // last read cycle of each repeat so far
    uint32_t next_ = 0;           // first repeat that may still have to be written
    uint64_t now_ = 0;
};

uint64_t walked_cycles(const BankOperand &dst, const BankOperand &src0, const BankOperand &src1, uint32_t repeats, uint32_t compute, uint32_t write_distance) {
    const bool no_meeting = dst.blocks == 0 || (is_apart(dst, src0, repeats) && is_apart(dst, src1, repeats));
    if (no_meeting && is_dense(dst) && is_dense(src0) && is_dense(src1))  // every repeat looks like the first: both sources move on by 8 groups
        return static_cast<uint64_t>(repeats) * lone_repeat(touched(dst, 0), touched(src0, 0), touched(src1, 0), compute);
    Walk walk(dst, repeats, write_distance);
    for (uint32_t r = 0; r < repeats; ++r) {
        const Touched first = touched(src0, r), second = touched(src1, r);
        walk.repeat(first, second, lone_repeat(touched(dst, r), first, second, compute));
    }
    return walk.cycles();
}

// All that the cycles of an instruction depend on, and they.
struct Known {
    BankOperand operands[3];
    uint32_t repeats = 0;  // 0: nothing is known here yet
    uint32_t compute = 0;
    uint32_t write_distance = 0;
    uint64_t cycles = 0;
};

bool is_same(const BankOperand &a, const BankOperand &b) { return a.addr == b.addr && a.blk == b.blk && a.rep == b.rep && a.blocks == b.blocks; }

bool is_same(const Known &a, const Known &b) {
    return is_same(a.operands[0], b.operands[0]) && is_same(a.operands[1], b.operands[1]) && is_same(a.operands[2], b.operands[2]) && a.repeats == b.repeats &&
           a.compute == b.compute && a.write_distance == b.write_distance;
}

constexpr size_t kKnown = 512;  // instructions of a kernel's loops, 64 KiB of memory

size_t place_of(const Known &asked) {
    uint64_t mixed = asked.repeats * 0x9e3779b97f4a7c15ull;
    for (const BankOperand &operand : asked.operands) mixed = (mixed ^ operand.addr ^ operand.rep << 8 ^ operand.blk) * 0x9e3779b97f4a7c15ull;
    return mixed >> 40 & (kKnown - 1);
}

}  // namespace

uint64_t repeat_cycles(const BankOperand &dst, const BankOperand &src0, const BankOperand &src1, uint32_t repeats, uint32_t compute, uint32_t write_distance) {
    if (repeats == 0) return 0;
    // A loop issues the same instructions at the same addresses again and again, and a walk takes longer than the arithmetic: the answers are kept.
    thread_local Known known[kKnown];
    Known asked{{dst, src0, src1}, repeats, compute, write_distance, 0};
    Known &place = known[place_of(asked)];
    if (!is_same(asked, place)) {
        asked.cycles = walked_cycles(dst, src0, src1, repeats, compute, write_distance);
        place = asked;
    }
    return place.cycles;
}

}  // namespace vnpu
