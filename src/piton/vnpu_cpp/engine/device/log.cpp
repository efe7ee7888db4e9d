#include "log.h"

#include <algorithm>
#include <cstdio>

namespace vnpu::device {

namespace {

const char *const kPipeNames[VNPU_PIPE_COUNT] = {"s", "v", "m", "mte1", "mte2", "mte3", "fix"};

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const unsigned char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", c);
            out += escape;
        } else {
            out += static_cast<char>(c);  // the parent decodes bytes that are no UTF-8 with a replacement character
        }
    }
    return out + '"';
}

// Builds {...} or [...]; members are written in the order of the calls.
class Json {
public:
    explicit Json(char open) : close_(open == '{' ? '}' : ']'), text_(1, open) {}
    Json &raw(const std::string &value) {
        text_ += text_.size() > 1 ? "," : "";
        text_ += value;
        return *this;
    }
    Json &raw(const char *name, const std::string &value) { return raw(quoted(name) + ":" + value); }
    Json &text(const char *name, const std::string &value) { return raw(name, quoted(value)); }
    Json &flag(const char *name, bool value) { return raw(name, value ? "true" : "false"); }
    template <typename T>
    Json &number(const char *name, T value) {
        return raw(name, std::to_string(value));
    }
    std::string done() const { return text_ + close_; }

private:
    char close_;
    std::string text_;
};

template <typename Items, typename Write>
std::string list(const Items &items, Write write) {
    Json json('[');
    for (const auto &item : items) json.raw(write(item));
    return json.done();
}

std::string by_pipe(const uint64_t (&cycles)[VNPU_PIPE_COUNT]) {
    Json json('{');
    for (int pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) json.number(kPipeNames[pipe], cycles[pipe]);
    return json.done();
}

const char *const kWaitNames[kWaitReasons] = {
    "flag_s",  "flag_v",     "flag_m",   "flag_mte1",  "flag_mte2", "flag_mte3", "flag_fix",  // by the pipe that sets it
    "barrier", "full_queue", "sync_all", "cross_flag", "end",       "idle",      "launch",   "tail",
};
const char *const kLossNames[kLossReasons] = {"bandwidth_share", "small_blocks", "latency", "bank_conflict", "cache_miss", "scalar_code"};

// Reasons that cost nothing are left out, and so are pipes that a launch does not use.
template <size_t reasons>
std::string by_reason(const PipeTiming &timing, const uint64_t (&cycles)[VNPU_PIPE_COUNT][reasons], const char *const (&names)[reasons]) {
    Json json('{');
    for (int pipe = 0; pipe < VNPU_PIPE_COUNT; ++pipe) {
        if (timing.busy[pipe] + timing.stall[pipe] == 0) continue;
        Json of_pipe('{');
        for (size_t reason = 0; reason < reasons; ++reason)
            if (cycles[pipe][reason] != 0) of_pipe.number(names[reason], cycles[pipe][reason]);
        json.raw(kPipeNames[pipe], of_pipe.done());
    }
    return json.done();
}

std::string write_diagnostic(const Diagnostic &diagnostic) {
    Json numbers('{');
    for (const auto &[name, value] : diagnostic.numbers) numbers.number(name.c_str(), value);
    return Json('{')
        .flag("is_finding", diagnostic.is_finding)
        .text("cause", diagnostic.cause)
        .text("kind", diagnostic.kind)
        .text("message", diagnostic.message)
        .text("file", diagnostic.file)
        .number("line", diagnostic.line)
        .number("core", diagnostic.core)
        .text("instruction", diagnostic.instruction)
        .raw("numbers", numbers.done())
        .number("occurrences", diagnostic.occurrences)
        .raw("code", list(diagnostic.code, [](uint64_t offset) { return std::to_string(offset); }))
        .done();
}

// Of some of the cores; the pipes are those that the whole launch uses, so that the rest can be computed.
std::string write_pipes(const PipeTiming &timing, const PipeTiming &whole) {
    return Json('{')
        .raw("busy_cycles", by_pipe(timing.busy))
        .raw("stall_cycles", by_pipe(timing.stall))
        .raw("wait_cycles", by_reason(whole, timing.wait, kWaitNames))
        .raw("lost_cycles", by_reason(whole, timing.lost, kLossNames))
        .number("cores", timing.cores)
        .done();
}

std::string write_launch(const LoggedLaunch &launch) {
    const LaunchTiming &timing = launch.report.timing;
    return Json('{')
        .text("kernel", launch.kernel)
        .flag("is_copy", launch.is_copy)
        .number("blocks", launch.blocks)
        .flag("is_cut", launch.report.is_cut)
        .number("instructions", launch.report.instructions)
        .number("cycles", timing.cycles)
        .raw("busy_cycles", by_pipe(timing.busy))
        .raw("stall_cycles", by_pipe(timing.stall))
        .raw("wait_cycles", by_reason(timing, timing.wait, kWaitNames))
        .raw("lost_cycles", by_reason(timing, timing.lost, kLossNames))
        .number("cores", timing.cores)
        .raw("cube", timing.cube.cores ? write_pipes(timing.cube, timing) : "null")
        .number("hbm_bytes", timing.hbm_bytes)
        .number("l2_bytes", timing.l2_bytes)
        .number("gm_read_bytes", timing.gm_read_bytes)
        .number("gm_written_bytes", timing.gm_written_bytes)
        .raw("diagnostics", list(launch.report.diagnostics, write_diagnostic))
        .done();
}

bool has_violation(const LoggedLaunch &launch) {
    const auto &found = launch.report.diagnostics;
    return std::any_of(found.begin(), found.end(), [](const Diagnostic &diagnostic) { return !diagnostic.is_finding; });
}

std::string write_notice(const Notice &notice) {
    return Json('{').text("cause", notice.cause).text("message", notice.message).number("code", notice.code).done();
}

}  // namespace

void Log::add(LoggedLaunch launch) {
    ++launch_count;
    total_cycles += launch.report.timing.cycles;
    is_cut = is_cut || launch.report.is_cut;
    if (launches.size() < kMaxLaunches || (has_violation(launch) && launches.size() < 2 * kMaxLaunches)) launches.push_back(std::move(launch));
}

void Log::add(const std::string &cause, const std::string &message, uint64_t code) {
    if (notices.size() < kMaxNotices) notices.push_back({cause.substr(0, 64), message.substr(0, kMaxTextBytes), code});
}

std::string Log::json() const {
    return Json('{')
        .raw("launches", list(launches, write_launch))
        .raw("notices", list(notices, write_notice))
        .raw("modified_inputs", list(modified_inputs, [](uint64_t address) { return std::to_string(address); }))
        .number("launch_count", launch_count)
        .number("total_cycles", total_cycles)
        .number("host_to_device_bytes", host_to_device_bytes)
        .number("device_to_host_bytes", device_to_host_bytes)
        .number("device_to_device_bytes", device_to_device_bytes)
        .number("launch_seconds", launch_seconds)
        .flag("is_cut", is_cut)
        .flag("is_code_gone", is_code_gone)
        .text("engine_failure", engine_failure)
        .done();
}

}  // namespace vnpu::device
