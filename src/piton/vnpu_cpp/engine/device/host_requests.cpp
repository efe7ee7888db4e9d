/* The host's half of the server: everything here deals with requests of untrusted code. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <dlfcn.h>

#include "../frames.h"
#include "server.h"
#include "signals.h"
#include "timeline_frame.h"

namespace vnpu::device {

using wire::Type;

namespace {

// The hardware's block index is 16 bits wide.
constexpr uint32_t kMaxBlocks = 65535;

// Arguments are metadata like the copies that the allowance bounds; a larger block would be a way to bring results in from the host.
constexpr size_t kMaxArgumentBytes = 4096;

// Attribution follows a copy: what a kernel stored stays a kernel's after a copy of it, and nothing else becomes so.
void copy_ranges(const IntervalSet &from, uint64_t source, IntervalSet &to, uint64_t destination, uint64_t bytes) {
    const IntervalSet before = from;  // both may be the same set
    to.remove(destination, destination + bytes);
    for (const auto &[begin, end] : before.ranges()) {
        const uint64_t low = std::max(begin, source), high = std::min(end, source + bytes);
        if (low < high) to.add(destination + (low - source), destination + (high - source));
    }
}

// Addresses as offsets into the device library; those of other code are dropped.
void make_relative(std::vector<Diagnostic> &diagnostics, const std::string &library) {
    for (Diagnostic &diagnostic : diagnostics) {
        Frames kept = {};
        for (const uint64_t address : diagnostic.code) frames::keep(kept, library.c_str(), address);
        diagnostic.code.clear();
        for (uint32_t index = 0; index < kept.count; ++index) diagnostic.code.push_back(kept.offsets[index]);
    }
}

std::string title_of(const vnpu_kernel &kernel) { return kernel.title && *kernel.title ? kernel.title : kernel.name; }

std::string in_hex(uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

}  // namespace

bool Server::answer_host(const wire::Frame &frame) {
    try {
        wire::Reader in(frame.body);
        const bool has_answer = frame.type != Type::HostFree;
        const std::string body = answer_host_request(frame, in);
        return !has_answer || wire::send(host_fd_, Type::Answer, body);
    } catch (const std::exception &error) {
        return wire::send(host_fd_, Type::Refused, wire::Writer().text(error.what()).body());
    }
}

std::string Server::answer_host_request(const wire::Frame &frame, wire::Reader &in) {
    switch (frame.type) {
        case Type::HostAllocate:
            return host_allocate(in.get<uint64_t>());
        case Type::HostFree: {
            const auto address = in.get<uint64_t>(), generation = in.get<uint64_t>();
            host_free(address, generation);
            return "";
        }
        case Type::HostLaunch: {
            const std::string name = in.text();
            const auto blocks = in.get<uint32_t>();
            host_launch(name, blocks, in.text());
            return "";
        }
        case Type::HostCopyIn: {
            const auto address = in.get<uint64_t>();
            copy_in(address, in.text());
            return "";
        }
        case Type::HostCopyOut: {
            const auto address = in.get<uint64_t>(), bytes = in.get<uint64_t>();
            return wire::Writer().text(copy_out(address, bytes)).body();
        }
        case Type::HostCopyDevice: {
            const auto destination = in.get<uint64_t>(), source = in.get<uint64_t>(), bytes = in.get<uint64_t>();
            copy_device(destination, source, bytes);
            return "";
        }
        case Type::HostNotice: {
            const std::string cause = in.text(), message = in.text();
            log_.add(cause, message, in.get<uint64_t>());
            return "";
        }
        case Type::HostClock:
            return wire::Writer().put(clocks_told_.tell(log_.total_cycles, [](const uint64_t &, const uint64_t &) { return true; })).body();
        default:
            throw std::runtime_error("the device knows no request " + std::to_string(static_cast<uint32_t>(frame.type)));
    }
}

std::string Server::host_allocate(uint64_t bytes) {
    const uint64_t address = bytes > memory_limit_ - live_bytes_ ? 0 : memory_.allocate(bytes, Owner::Host, true);
    if (address == 0) {
        const std::string message = "device memory: " + std::to_string(bytes) + " bytes asked for, " + std::to_string(live_bytes_) + " of " +
                                    std::to_string(memory_limit_) + " bytes in use";
        log_.add("device_memory", message);
        throw std::runtime_error(message);
    }
    host_live_[address] = bytes;
    live_bytes_ += bytes;
    fill_new_memory(address, bytes);
    return wire::Writer().put(address).put(generation_).body();
}

// What it holds counts as undefined all the same; the pattern shows what is not seen otherwise, such as reads through raw pointers.
void Server::fill_new_memory(uint64_t address, uint64_t bytes) {
    if (!in_call_ || call_.poison == 0 || options_.timing_only) return;
    std::memset(memory_.writable(address), call_.poison, std::min(bytes, kMostPoisonBytes));
}

// Outside a call nothing is freed: the parent is reading the outputs, and the next case starts with empty memory anyway.
void Server::host_free(uint64_t address, uint64_t generation) {
    const auto found = host_live_.find(address);
    if (!in_call_ || generation != generation_ || found == host_live_.end()) return;
    live_bytes_ -= found->second;
    host_live_.erase(found);
    memory_.release(address);
}

void Server::require_call(const char *what) const {
    if (!in_call_) throw std::runtime_error(std::string(what) + " refused: the device works only while the operator is being called");
    if (log_.is_cut) throw std::runtime_error(std::string(what) + " refused: the device stopped at an earlier launch");
}

void Server::violation(const std::string &kernel, const std::string &cause, const std::string &message) {
    LoggedLaunch launch{kernel.substr(0, kMaxTextBytes), false, 0, {}};
    launch.report.is_cut = true;
    Diagnostic diagnostic;
    diagnostic.cause = cause;
    diagnostic.message = message;
    launch.report.diagnostics.push_back(diagnostic);
    log_.add(std::move(launch));
    throw std::runtime_error(message);
}

void Server::host_launch(const std::string &name, uint32_t blocks, const std::string &arguments) {
    require_call("launch");
    if (is_code_lost_) violation(name, "protocol_violation", "the process of the device code was given up at an earlier launch");
    load_library();
    const vnpu_kernel &kernel = kernel_named(name, arguments.size());
    if (blocks == 0 || blocks > kMaxBlocks)
        violation(kernel.title, "bad_parameter", "launch on " + std::to_string(blocks) + " blocks; 1 to " + std::to_string(kMaxBlocks) + " are possible");
    if (arguments.size() > kMaxArgumentBytes)
        violation(kernel.title, "host_copy",
                  "launched with " + std::to_string(arguments.size()) + " bytes of arguments; at most " + std::to_string(kMaxArgumentBytes) + " are metadata");
    if (call_.launches_do_nothing) return log_.add(LoggedLaunch{title_of(kernel), false, blocks, {}});
    run(kernel, blocks, arguments);
}

const vnpu_kernel &Server::kernel_named(const std::string &name, size_t argument_bytes) {
    const vnpu_kernel *kernel = find_kernel(name);
    if (!kernel) violation(name, "protocol_violation", "the device library has no kernel " + name.substr(0, kMaxTextBytes));
    if (kernel->abi_version != VNPU_ABI_VERSION)
        violation(name, "protocol_violation",
                  "kernel built for ABI version " + std::to_string(kernel->abi_version) + ", this device has " + std::to_string(VNPU_ABI_VERSION));
    if (kernel->argument_bytes != argument_bytes)
        violation(name, "protocol_violation",
                  "launched with " + std::to_string(argument_bytes) + " bytes of arguments, the kernel takes " + std::to_string(kernel->argument_bytes));
    return *kernel;
}

// At the first launch and not earlier, so that what the library's static constructors do falls into a call and is blamed on the submission.
void Server::load_library() {
    if (is_loaded_) return;
    set_running_kernel("(loading the device library)");
    const std::string failure = remote_ ? load_elsewhere() : dlopen(library_.c_str(), RTLD_NOW | RTLD_GLOBAL) ? "" : dlerror();
    if (!failure.empty()) violation("(loading the device library)", "load_failed", failure);
    set_running_kernel("");
    is_loaded_ = true;
}

std::string Server::load_elsewhere() {
    std::string failure = remote_->load();
    log_.is_code_gone = remote_->is_gone();
    return failure;
}

// A process of device code that was left in the middle of a launch, or has ended, is not used again.
LaunchReport Server::launch(const vnpu_kernel &kernel, uint32_t blocks, const std::string &arguments) {
    if (!remote_) return engine_->launch(kernel, arguments.data(), blocks);
    remote_->begin(kernel, arguments);
    LaunchReport report = engine_->launch(kernel, nullptr, blocks);
    log_.is_code_gone = remote_->is_gone();
    return report;
}

void Server::run(const vnpu_kernel &kernel, uint32_t blocks, const std::string &arguments) {
    LoggedLaunch launch{title_of(kernel), false, blocks, {}};
    EngineOptions options = options_;
    options.budget_cycles = options_.budget_cycles - std::min(options_.budget_cycles, log_.total_cycles);  // of the call, not of each launch
    if (options.budget_cycles == 0)
        violation(launch.kernel, "device_budget", "the launches of this call used up its budget of " + std::to_string(options_.budget_cycles) + " cycles");
    options.timeline.is_on = options_.timeline.is_on && timelines_.size() < kMaxTimelines;
    engine_->configure(options);
    set_running_kernel(launch.kernel);
    const auto start = std::chrono::steady_clock::now();
    try {
        launch.report = this->launch(kernel, blocks, arguments);
    } catch (const std::exception &error) {  // what a kernel throws ends inside the engine, so this is a failure of the engine
        log_.engine_failure = error.what();
        log_.is_cut = true;
        throw;
    }
    set_running_kernel("");
    log_.launch_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool is_cut = launch.report.is_cut;
    is_code_lost_ = is_cut && remote_ != nullptr;
    if (!remote_) make_relative(launch.report.diagnostics, library_);
    if (launch.report.timeline) timelines_.push_back(timeline_frame(*launch.report.timeline));
    launch.report.timeline.reset();
    log_.add(std::move(launch));
    if (is_cut) throw std::runtime_error("the kernel was stopped by the device; see the report");
}

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
    return copies_told_.tell(now, [](const std::string &told, const std::string &asked) { return told.size() == asked.size(); });
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
