/* The host's half of the server: everything here deals with requests of untrusted code. */
#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
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
        case Type::HostClock:  // asked more often than before: no answer that depends on what lies on the device
            return wire::Writer().put(clocks_told_.tell(log_.total_cycles, [](const uint64_t &, const uint64_t &) { return true; }).value_or(0)).body();
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
    void *const loaded = remote_ ? nullptr : dlopen(library_.c_str(), RTLD_NOW | RTLD_GLOBAL);
    const std::string failure = remote_ ? load_elsewhere() : loaded ? "" : dlerror();
    if (loaded) statics_.keep(loaded);
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
    if (remote_) remote_->begin(kernel, arguments);
    LaunchReport report = engine_->launch(kernel, remote_ ? nullptr : arguments.data(), blocks);
    if (!report.is_cut) forget_static_data(report);
    if (remote_) log_.is_code_gone = remote_->is_gone();
    return report;
}

// Of a launch that was cut nothing is used again.
void Server::forget_static_data(LaunchReport &report) {
    const std::optional<uint64_t> changed = remote_ ? remote_->clean() : statics_.put_back();
    if (changed == uint64_t{0}) return;
    Diagnostic found;
    found.is_finding = changed.has_value();
    if (changed) {
        found.kind = "static_state";
        found.message = "device code changed " + std::to_string(*changed) + " bytes of static variables; a chip has none, and they are put back after a launch";
        found.numbers = {{"bytes", static_cast<int64_t>(*changed)}};
    } else {
        found.cause = "protocol_violation";
        found.message = "the process of the device code sent more than its launch, or nothing after it";
        report.is_cut = true;
    }
    report.diagnostics.push_back(std::move(found));
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

}  // namespace vnpu::device
