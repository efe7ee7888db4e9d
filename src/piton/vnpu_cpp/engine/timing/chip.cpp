#include "chip.h"

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

namespace vnpu {
namespace {

constexpr uint32_t kMaxTransfers = 256;  // MTE2 and MTE3 of 48 AIV and 24 AIC cores, with room for larger chips

class Table {
public:
    explicit Table(const std::string &text) {
        std::istringstream lines(text);
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number)
            if (!line.empty()) add(line, number);
    }

    double number(const std::string &name) const {
        const auto found = values_.find(name);
        if (found == values_.end()) throw std::runtime_error("chip table: missing parameter `" + name + "`");
        return found->second;
    }

    uint64_t whole(const std::string &name) const { return static_cast<uint64_t>(std::llround(number(name))); }
    uint32_t small(const std::string &name) const { return static_cast<uint32_t>(whole(name)); }
    uint64_t cycles_of_us(const std::string &name) const { return static_cast<uint64_t>(std::llround(number(name) * number("clock.core_hz") / 1e6)); }
    Rate rate_of(double bytes_per_s) const {
        return static_cast<Rate>(std::llround(bytes_per_s / number("clock.core_hz") * static_cast<double>(1u << kRateBits)));
    }
    Rate rate(const std::string &name) const { return rate_of(number(name)); }

    // The points `<prefix><cores>` of a curve, by number of cores.
    std::map<uint32_t, double> curve(const std::string &prefix) const {
        std::map<uint32_t, double> points;
        for (auto entry = values_.lower_bound(prefix); entry != values_.end() && entry->first.compare(0, prefix.size(), prefix) == 0; ++entry)
            points[static_cast<uint32_t>(std::atoi(entry->first.c_str() + prefix.size()))] = entry->second;
        if (points.empty() || points.begin()->first != 1) throw std::runtime_error("chip table: missing parameter `" + prefix + "1`");
        return points;
    }

private:
    void add(const std::string &line, int number) {
        const size_t space = line.find(' ');
        char *end = nullptr;
        const double value = space == std::string::npos ? 0.0 : std::strtod(line.c_str() + space + 1, &end);
        if (end == nullptr || end == line.c_str() + space + 1 || *end != '\0' || !std::isfinite(value) || value < 0)
            throw std::runtime_error("chip table: line " + std::to_string(number) + ": expected `name value` with a value >= 0, found `" + line + "`");
        values_[line.substr(0, space)] = value;
    }

    std::map<std::string, double> values_;
};

// Rates for 1, 2, ... transfers in flight: straight lines between the points, level after the last one. Whole numbers, so that no host rounds differently.
std::vector<Rate> interpolate(const Table &table, const std::string &prefix) {
    const std::map<uint32_t, double> points = table.curve(prefix);
    std::vector<Rate> rates(kMaxTransfers + 1, table.rate_of(points.rbegin()->second));
    for (auto below = points.begin(), above = std::next(below); above != points.end(); ++below, ++above) {
        const int64_t from = static_cast<int64_t>(table.rate_of(below->second)), to = static_cast<int64_t>(table.rate_of(above->second));
        for (uint32_t count = below->first; count < above->first && count <= kMaxTransfers; ++count)
            rates[count] = static_cast<Rate>(from + (to - from) * (count - below->first) / (above->first - below->first));
    }
    return rates;
}

ChipLimits read_limits(const Table &table) {
    ChipLimits limits = {};
    limits.ub_bytes = table.whole("memory.ub_bytes");
    limits.l1_bytes = table.whole("memory.l1_bytes");
    limits.l0a_bytes = table.whole("memory.l0a_bytes");
    limits.l0b_bytes = table.whole("memory.l0b_bytes");
    limits.l0c_bytes = table.whole("memory.l0c_bytes");
    limits.bt_bytes = table.whole("memory.bt_bytes");
    limits.cores_aic = table.small("cores.aic");
    limits.cores_aiv = table.small("cores.aiv");
    limits.clock_hz = table.whole("clock.core_hz");
    limits.system_cycle_hz = table.whole("clock.system_cycle_hz");
    limits.code_block_cycles = table.small("scalar.block_cycles");
    return limits;
}

void read_launch(const Table &table, ChipModel &chip) {
    chip.launch_base = table.cycles_of_us("launch.base_us");
    chip.launch_per_block = table.cycles_of_us("launch.per_block_us");
    chip.launch_minimum = table.cycles_of_us("launch.minimum_us");
    chip.sync_all = table.cycles_of_us("launch.sync_all_us");
    chip.cross_flag = table.cycles_of_us("sync.cross_core_us");
    chip.tpipe_setup = static_cast<uint32_t>(table.cycles_of_us("framework.tpipe_setup_us"));
}

void read_scalar(const Table &table, ChipModel &chip) {
    chip.issue_cycles = table.small("scalar.issue_cycles");
    chip.ub_load_cycles = table.small("scalar.ub_load_cycles");
    chip.ub_store_cycles = table.small("scalar.ub_store_cycles");
    chip.cache_hit_cycles = table.small("scalar.cache_hit_cycles");
    chip.cache_miss_cycles = static_cast<uint32_t>(table.cycles_of_us("scalar.cache_miss_us"));
    chip.cache_line_bytes = table.small("scalar.cache_line_bytes");
    if (chip.cache_line_bytes == 0) throw std::runtime_error("chip table: `scalar.cache_line_bytes` is zero");
    chip.cache_lines = table.small("scalar.cache_bytes") / chip.cache_line_bytes;
    chip.queue_depth = table.small("queue.depth");
    if (chip.queue_depth == 0) throw std::runtime_error("chip table: `queue.depth` is zero");
    chip.flag_cycles = table.small("sync.flag_cycles");
    chip.barrier_cycles = table.small("sync.barrier_cycles");
}

void read_vector(const Table &table, ChipModel &chip) {
    chip.vector_fixed = table.small("vector.fixed_cycles");
    chip.write_distance = table.small("vector.write_distance_cycles");
    for (const char *family : vector_family_names()) {
        const std::string prefix = std::string("vector.") + family;
        chip.vector_costs.push_back({table.small(prefix + ".b16_cycles"), table.small(prefix + ".b32_cycles")});
    }
}

DmaCost read_dma(const Table &table, const std::string &pipe) {
    DmaCost cost;
    cost.setup_cycles = table.small(pipe + ".setup_cycles");
    cost.block_cycles = table.small(pipe + ".block_cycles");
    cost.latency_cycles = static_cast<uint32_t>(table.cycles_of_us(pipe + ".latency_us"));
    cost.l2_rate = table.rate(pipe + ".l2_rate_bytes_per_s");
    return cost;
}

void read_cube(const Table &table, ChipModel &chip) {
    chip.cube.fixed_cycles = table.small("cube.fixed_cycles");
    chip.cube.b8_cycles = table.small("cube.b8_cycles");
    chip.cube.b16_cycles = table.small("cube.b16_cycles");
    chip.cube.b32_cycles = table.small("cube.b32_cycles");
    chip.cube.load_setup_cycles = table.small("mte1.setup_cycles");
    chip.cube.l0a_rate = table.rate("mte1.l0a_rate_bytes_per_s");
    chip.cube.l0b_rate = table.rate("mte1.l0b_rate_bytes_per_s");
    chip.fix.setup_cycles = table.small("fix.setup_cycles");
    chip.fix.latency_cycles = static_cast<uint32_t>(table.cycles_of_us("fix.latency_us"));
    chip.fix.l0c_rate = table.rate("fix.l0c_rate_bytes_per_s");
}

void read_memory(const Table &table, ChipModel &chip) {
    chip.mte2 = read_dma(table, "mte2");
    chip.mte2.bypass_block_cycles = table.small("mte2.bypass_block_cycles");
    chip.mte2_l1 = read_dma(table, "mte2_l1");
    chip.mte2_l1.bypass_block_cycles = chip.mte2.bypass_block_cycles;
    chip.mte3 = read_dma(table, "mte3");
    chip.on_chip_rate = table.rate("mte3.on_chip_rate_bytes_per_s");
    chip.hbm_read_rate = interpolate(table, "hbm.read_rate_bytes_per_s.cores_");
    chip.hbm_read_rate_l1 = interpolate(table, "hbm.l1_read_rate_bytes_per_s.cores_");
    chip.hbm_write_rate = interpolate(table, "hbm.write_rate_bytes_per_s.cores_");
    chip.hbm_read_cap = table.rate("hbm.read_cap_bytes_per_s");
    chip.hbm_total_cap = table.rate("hbm.total_cap_bytes_per_s");
    chip.same_address_cap = table.rate("hbm.same_address_cap_bytes_per_s");
    chip.same_address_cycles = table.cycles_of_us("hbm.same_address_window_us");
    chip.l2_read_cap = table.rate("l2.read_cap_bytes_per_s");
    chip.l2_write_cap = table.rate("l2.write_cap_bytes_per_s");
    chip.l2_bytes = table.whole("l2.bytes");
}

}  // namespace

std::shared_ptr<const ChipModel> parse_chip(const std::string &text) {
    const Table table(text);
    auto chip = std::make_shared<ChipModel>();
    chip->limits = read_limits(table);
    read_launch(table, *chip);
    read_scalar(table, *chip);
    read_vector(table, *chip);
    read_cube(table, *chip);
    read_memory(table, *chip);
    return chip;
}

ChipLimits limits_of(const ChipModel &chip) { return chip.limits; }

}  // namespace vnpu
