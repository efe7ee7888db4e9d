/*
 * ReduceSum, ReduceMax, ReduceMin: one result for a whole tensor.
 *
 * On the chip each is several instructions: passes of the one-repeat reductions through a work buffer with barriers between them, then the scalar unit
 * takes the result over and writes it. So they stall issue for a round trip, and what reads the result next, on any pipe, is ordered without a user's flag.
 * ReduceSum by count is one accumulating instruction: repeats are added one after another. With an index and one repeat the result stays with V.
 */
#include <algorithm>
#include <cstring>

#include "composite.h"
#include "mathematics.h"
#include "reduce.h"
#include "vector_plan.h"

namespace vnpu {

namespace {

constexpr uint64_t kEvenLanes = 0x5555555555555555ull;  // values of (value, index) pairs
constexpr uint32_t kIndexFlag = 1;                      // p[3] of the record
constexpr uint32_t kPair = 2;                           // elements of a result with its index

struct Mask {
    uint64_t low, high;
};

// The n lowest even lanes.
Mask even_lanes(uint32_t n) {
    const auto word = [](uint32_t count) { return count >= 32 ? kEvenLanes : kEvenLanes & ((1ull << 2 * count) - 1); };
    return {word(n), n > 32 ? word(n - 32) : 0};
}

Mask first_lanes(uint32_t n) {
    const auto word = [](uint32_t count) { return count >= 64 ? ~0ull : (1ull << count) - 1; };
    return {word(n), n > 64 ? word(n - 64) : 0};
}

vnpu_operand part(const vnpu_operand &whole, uint64_t bytes, uint16_t rep) {
    vnpu_operand result = whole;
    result.addr += bytes;
    if (whole.limit != 0xffffffffu) result.limit = whole.limit > bytes ? static_cast<uint32_t>(whole.limit - bytes) : 0;
    result.blk = 1;
    result.rep = rep;
    return result;
}

// What one call reduces: `repeats` repeats of `source` under one mask.
struct Job {
    vnpu_operand source;
    uint32_t repeats;
    Mask mask;
};

class ReduceAll {
public:
    ReduceAll(Core &core, const vnpu_record &record)
        : core_(core),
          record_(record),
          dst_(record.dst),
          work_(record.src1),
          bytes_(dtype_bytes(record.src0.dtype)),
          lanes_(kRepeatBytes / bytes_),
          reduction_(record.opcode == VNPU_OP_REDUCE_SUM   ? Reduction::Sum
                     : record.opcode == VNPU_OP_REDUCE_MAX ? Reduction::Max
                                                           : Reduction::Min) {}

    void run() {
        if (!(record_.flags & VNPU_F_COUNT) && !(reduction_ == Reduction::Sum && (record_.flags & VNPU_F_KEEP_MASK)))
            reduce({record_.src0, record_.p[0], {record_.mask[0], record_.mask[1]}});
        else if (reduction_ == Reduction::Sum)
            accumulate();
        else
            by_count(record_.p[0]);
    }

private:
    bool is_half() const { return bytes_ == 2; }
    bool has_index() const { return (record_.p[3] & kIndexFlag) != 0; }
    uint16_t pass_opcode() const { return static_cast<uint16_t>(VNPU_OP_WHOLE_REDUCE_SUM + static_cast<uint32_t>(reduction_)); }
    uint64_t align(uint64_t elements) const { return (elements * bytes_ + kBlockBytes - 1) / kBlockBytes * kBlockBytes / bytes_; }
    vnpu_operand work(uint64_t elements) const { return part(work_, elements * bytes_, 8); }

    // ---- instructions ----
    vnpu_record pass_record(const vnpu_operand &to, const vnpu_operand &from, uint32_t repeats, const Mask &mask) const {
        vnpu_record pass = record_;
        pass.opcode = pass_opcode();
        pass.flags = VNPU_F_SET_MASK;
        pass.dst = part(to, 0, 1);
        pass.src0 = from;
        pass.src1 = vnpu_operand{};
        pass.mask[0] = mask.low;
        pass.mask[1] = mask.high;
        pass.p[0] = repeats;
        pass.p[1] = pass.p[2] = 0;
        pass.p[3] = kValueIndex;
        return pass;
    }
    void pass(const vnpu_operand &to, const vnpu_operand &from, uint32_t repeats, const Mask &mask) {
        run_whole_reduce(core_, pass_record(to, from, repeats, mask));
    }
    void barrier() { hidden_barrier(core_, record_, VNPU_PIPE_V); }
    void scalar_sees_vector() { hidden_flag(core_, record_, VNPU_PIPE_V, VNPU_PIPE_S); }
    void others_see_scalar() {
        hidden_flag(core_, record_, VNPU_PIPE_S, VNPU_PIPE_V);
        hidden_flag(core_, record_, VNPU_PIPE_S, VNPU_PIPE_MTE3);
    }
    void touch_by_scalar(uint64_t at, bool is_write) {
        vnpu_record on_s = record_;
        on_s.pipe = VNPU_PIPE_S;
        order_accesses(core_, on_s, {{VNPU_SPACE_UB, is_write, at, at + bytes_}});
        on_s.opcode = is_write ? VNPU_OP_SCALAR_STORE : VNPU_OP_SCALAR_LOAD;
        on_s.dst.space = on_s.src0.space = VNPU_SPACE_UB;
        core_.append(cost_of(core_.launch.chip, on_s, 1, 1));
    }
    // The scalar unit copies one element.
    void copy_by_scalar(const vnpu_operand &to, const vnpu_operand &from) {
        check_ub(core_, record_, to, bytes_, true, bytes_);
        touch_by_scalar(from.addr, false);
        touch_by_scalar(to.addr, true);
        if (!core_.moves_data()) return;
        std::memmove(core_.ub.data() + to.addr, core_.ub.data() + from.addr, bytes_);
        core_.undefined.copy(to.addr, from.addr, bytes_);
    }
    void write_by_scalar(const vnpu_operand &to, uint64_t bits, bool is_undefined) {
        check_ub(core_, record_, to, bytes_, true, bytes_);
        touch_by_scalar(to.addr, true);
        store_bits(core_, to.addr, bits, bytes_, is_undefined);
    }
    uint64_t bits_of(float value) const { return is_half() ? float_to_half(value) : bits_as<uint32_t>(value); }

    // ---- ReduceSum by count ----
    void accumulate() {
        const Iterations iterations = iterations_of(core_, record_, lanes_);
        Footprint footprint;
        for (uint32_t repeat = 0; repeat < iterations.repeats; ++repeat, footprint.next()) footprint.read_lanes(iterations, record_.src0, bytes_, repeat);
        check_operand(core_, record_, record_.src0, footprint.end(false), false);
        footprint.settle(core_, record_);
        vnpu_record cost = record_;
        cost.dst.space = cost.src1.space = VNPU_SPACE_NONE;
        core_.append(cost_of(core_.launch.chip, cost, iterations.repeats, iterations.active()));
        if (!iterations.active()) return;
        const Reduced sum = accumulated(iterations);
        core_.reduced_sum = bits_of(sum.value);
        scalar_sees_vector();
        write_by_scalar(dst_, bits_of(sum.value), sum.is_undefined);
        others_see_scalar();
    }
    Reduced accumulated(const Iterations &iterations) const {
        Reduced sum;
        for (uint32_t repeat = 0; repeat < iterations.repeats && core_.moves_data(); ++repeat) {
            const Reduced one = reduce_group(read_group(core_, record_.src0, iterations, repeat), 0, lanes_, Reduction::Sum, is_half());
            if (one.is_any) sum.value = sum.is_any ? add_rounded(sum.value, one.value, is_half()) : one.value;
            sum.is_any = sum.is_any || one.is_any;
            sum.is_undefined = sum.is_undefined || one.is_undefined;
        }
        return sum;
    }

    // ---- through the work buffer ----
    void reduce(const Job &job) {
        if (job.repeats == 0 || (job.mask.low == 0 && (job.mask.high == 0 || lanes_ <= 64))) return charge_nothing();
        if (reduction_ == Reduction::Sum) return sum(job);
        has_index() ? with_index(job) : without_index(job);
    }
    void charge_nothing() { core_.append(cost_of(core_.launch.chip, record_, 0, 0)); }

    // The first level, in instructions of at most 255 repeats, `per_repeat` elements each.
    void first_level(const Job &job, uint32_t per_repeat) {
        for (uint32_t done = 0; done < job.repeats; done += kMaxRepeats) {
            if (done) barrier();  // the work buffer may be the source
            const uint64_t skipped = static_cast<uint64_t>(done) * job.source.rep * kBlockBytes;
            pass(work(static_cast<uint64_t>(done) * per_repeat), part(job.source, skipped, job.source.rep), std::min(kMaxRepeats, job.repeats - done),
                 job.mask);
        }
    }

    void take_over() {
        scalar_sees_vector();
        copy_by_scalar(dst_, work_);
        others_see_scalar();
    }

    void sum(const Job &job) {
        first_level(job, 1);
        if (job.repeats == 1) return take_over();
        barrier();
        core_.mask.is_counter = true;
        vnpu_record second = pass_record(work(0), work(0), 1, {job.repeats, 0});
        second.p[1] = job.repeats;
        second.p[2] = 1;
        run_whole_reduce(core_, second);
        core_.mask.is_counter = false;
        barrier();
        const uint32_t left = (job.repeats + lanes_ - 1) / lanes_;
        left == 1 ? take_over() : pass(dst_, work(0), 1, first_lanes(left));
    }

    // (value, index) pairs from element `from` on to element `to` on; returns the elements written.
    uint32_t pairs(uint32_t elements, uint64_t from, uint64_t to) {
        const uint32_t whole = elements / lanes_, rest = elements % lanes_;
        if (whole) pass(work(to), work(from), whole, even_lanes(lanes_ / kPair));
        if (whole && rest) barrier();  // the results may lie where the values were
        if (rest) pass(work(to + whole * kPair), work(from + static_cast<uint64_t>(whole) * lanes_), 1, even_lanes(rest / kPair));
        return (whole + (rest != 0)) * kPair;
    }

    void without_index(const Job &job) {
        first_level(job, kPair);
        uint32_t elements = job.repeats * kPair;
        while (job.repeats > 1) {
            barrier();
            const bool is_last = elements <= lanes_;
            elements = pairs(elements, 0, 0);
            if (is_last) break;
        }
        take_over();
    }

    Iterations iterations(const Job &job) const {
        Iterations walk;
        walk.lanes = lanes_;
        walk.repeats = job.repeats;
        walk.bits[0] = job.mask.low;
        walk.bits[1] = job.mask.high;
        return walk;
    }

    // Value and index of the whole job, from before anything is written.
    Reduced best(const Job &job) const {
        const Iterations walk = iterations(job);
        Reduced result;
        for (uint32_t repeat = 0; repeat < job.repeats && core_.moves_data(); ++repeat) {
            Reduced one = reduce_group(read_group(core_, job.source, walk, repeat), 0, lanes_, reduction_, is_half());
            one.index += repeat * job.source.rep * (kBlockBytes / bytes_);
            one.is_undefined = one.is_undefined || result.is_undefined;
            if (!result.is_any || replaces(result.value, one.value, reduction_)) result = one;
            result.is_undefined = one.is_undefined;
        }
        return result;
    }

    void with_index(const Job &job) {
        if (job.repeats == 1) return pass(dst_, part(job.source, 0, job.source.rep), 1, job.mask);
        check_operand(core_, record_, job.source, lanes_end(iterations(job), job.source, bytes_), false);
        const Reduced result = best(job);
        first_level(job, kPair);
        uint64_t from = 0;
        for (uint32_t elements = job.repeats * kPair; elements > kPair;) {
            barrier();
            const uint64_t to = from + align(elements);
            elements = pairs(elements, from, to);
            from = to;
        }
        scalar_sees_vector();
        for (const uint64_t element : {from, from + 1}) touch_by_scalar(work(element).addr, false);
        write_by_scalar(dst_, bits_of(result.value), result.is_undefined);
        write_by_scalar(part(dst_, bytes_, 1), result.index, result.is_undefined);
        others_see_scalar();
    }

    // ---- ReduceMax and ReduceMin by count: whole repeats, the rest, and the better of the two ----
    void by_count(uint32_t count) {
        const uint32_t repeats = count / lanes_, rest = count % lanes_;
        vnpu_operand source = part(record_.src0, 0, 8);
        check_operand(core_, record_, source, source.addr + static_cast<uint64_t>(count) * bytes_, false);
        const Job body{source, repeats, {~0ull, ~0ull}}, tail{part(source, static_cast<uint64_t>(repeats) * kRepeatBytes, 8), 1, first_lanes(rest)};
        reset_mask(core_.mask, record_);
        const MaskState left = core_.mask;  // not what the passes put there
        if (count == 0) return charge_nothing();
        if (repeats && rest)
            of_both(body, tail);
        else
            reduce(repeats ? body : tail);
        core_.mask = left;
    }

    void of_both(const Job &body, const Job &tail) {
        const Reduced first = best(body), second = best(tail);
        reduce(body);
        scalar_sees_vector();
        touch_by_scalar(dst_.addr, false);
        hidden_flag(core_, record_, VNPU_PIPE_S, VNPU_PIPE_V);  // the next pass overwrites what the scalar unit has read
        reduce(tail);
        scalar_sees_vector();
        touch_by_scalar(dst_.addr, false);
        write_by_scalar(work(0), bits_of(first.value), first.is_undefined);
        write_by_scalar(work(1), bits_of(second.value), second.is_undefined);
        hidden_flag(core_, record_, VNPU_PIPE_S, VNPU_PIPE_V);
        reduce({work(0), 1, first_lanes(2)});
        if (!has_index()) return;
        const bool is_in_tail = replaces(first.value, second.value, reduction_);
        scalar_sees_vector();
        const uint32_t index = is_in_tail ? body.repeats * lanes_ + second.index : first.index;
        write_by_scalar(part(dst_, bytes_, 1), index, first.is_undefined || second.is_undefined);
        others_see_scalar();
    }

    Core &core_;
    const vnpu_record &record_;
    const vnpu_operand dst_;
    const vnpu_operand work_;
    const uint32_t bytes_;
    const uint32_t lanes_;
    const Reduction reduction_;
};

}  // namespace

void run_reduce_all(Core &core, const vnpu_record &record) {
    if (!reduced_lanes(record.src0) || record.dst.dtype != record.src0.dtype)
        core.fail(record, "unsupported_api", api_name(place_of(record)) + " does not exist for this dtype", {{"dtype", record.src0.dtype}});
    ReduceAll(core, record).run();
}

}  // namespace vnpu
