/* Copies that the host asks for: which memory they may touch, what they cost of the call's allowance, and whose bytes they carry. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "server.h"

namespace vnpu::device {

namespace {

// Attribution follows a copy: what a kernel stored stays a kernel's after a copy of it, and nothing else becomes so.
void copy_ranges(const IntervalSet &from, uint64_t source, IntervalSet &to, uint64_t destination, uint64_t bytes) {
    const IntervalSet before = from;  // both may be the same set
    to.remove(destination, destination + bytes);
    for (const auto &[begin, end] : before.ranges()) {
        const uint64_t low = std::max(begin, source), high = std::min(end, source + bytes);
        if (low < high) to.add(destination + (low - source), destination + (high - source));
    }
}

std::string in_hex(uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

}  // namespace

void Server::spend_allowance(uint64_t bytes, const char *direction) {
    const uint64_t spent = log_.host_to_device_bytes + log_.device_to_host_bytes;
    if (bytes <= call_.copy_allowance - std::min(spent, call_.copy_allowance)) return;
    const std::string message = std::string("copy of ") + std::to_string(bytes) + " bytes " + direction + " refused: one call may copy " +
                                std::to_string(call_.copy_allowance) + " bytes of metadata between host and device, " + std::to_string(spent) + " are spent";
    log_.add("host_copy", message);
    throw std::runtime_error(message);
}

Allocation &Server::readable(uint64_t address, uint64_t bytes) {
    if (Allocation *found = memory_.find(address, bytes)) return *found;
    throw std::runtime_error("copy of " + std::to_string(bytes) + " bytes at " + in_hex(address) + ", which is not inside one allocation");
}

Allocation &Server::writable(uint64_t address, uint64_t bytes) {
    Allocation &found = readable(address, bytes);
    if (found.is_mutable) return found;
    log_.add("input_modified", "copy into an input of the operator");
    throw std::runtime_error("copy into an input of the operator refused");
}

// A tensor that the operator updates in place is an output: what no kernel computed may not get there, however few bytes it is.
void Server::refuse_in_place(const Allocation &target, const char *what) {
    if (target.owner != Owner::Parent) return;
    const std::string message = std::string("copy of ") + what + " into a tensor that the operator updates in place refused; only a kernel may write it";
    log_.add("host_copy", message);
    throw std::runtime_error(message);
}

void Server::copy_in(uint64_t address, const std::string &bytes) {
    require_call("copy to the device");
    spend_allowance(bytes.size(), "to the device");
    Allocation &target = writable(address, bytes.size());
    refuse_in_place(target, "host data");
    log_.host_to_device_bytes += bytes.size();
    if (bytes.empty()) return;
    if (!target.timing_only) std::memcpy(memory_.writable(address), bytes.data(), bytes.size());
    const uint64_t begin = address - target.address, end = begin + bytes.size();
    target.defined.add(begin, end);
    target.stored.remove(begin, end);
}

std::string Server::copy_out(uint64_t address, uint64_t bytes) {
    require_call("copy to the host");
    spend_allowance(bytes, "to the host");
    readable(address, bytes);
    log_.device_to_host_bytes += bytes;
    const std::string now(reinterpret_cast<const char *>(memory_.readable(address)), bytes);
    if (call_.copy_allowance > kMostRepeatedBytes) return now;
    const auto told = copies_told_.tell(now, [](const std::string &before, const std::string &asked) { return before.size() == asked.size(); });
    if (told) return *told;
    const std::string message = "copy of " + std::to_string(bytes) + " bytes to the host refused: in the same call before, the host asked for something else";
    log_.add("host_copy", message);
    throw std::runtime_error(message);
}

void Server::copy_device(uint64_t destination, uint64_t source, uint64_t bytes) {
    require_call("copy on the device");
    Allocation &from = readable(source, bytes);
    Allocation &to = writable(destination, bytes);
    const uint64_t begin = source - from.address;
    if (from.owner == Owner::Host && !from.stored.covers(begin, begin + bytes)) refuse_in_place(to, "bytes that no kernel stored");
    log_.device_to_device_bytes += bytes;
    if (bytes == 0) return;
    if (!to.timing_only) std::memmove(memory_.writable(destination), memory_.readable(source), bytes);
    copy_ranges(from.defined, source - from.address, to.defined, destination - to.address, bytes);
    copy_ranges(from.stored, source - from.address, to.stored, destination - to.address, bytes);
    LoggedLaunch launch{"copy", true, 0, {}};
    launch.report.timing.cycles = engine_->copy(bytes);
    launch.report.timing.kernel_cycles = launch.report.timing.cycles;
    launch.report.timing.gm_read_bytes = launch.report.timing.gm_written_bytes = bytes;
    log_.add(std::move(launch));
}

}  // namespace vnpu::device
