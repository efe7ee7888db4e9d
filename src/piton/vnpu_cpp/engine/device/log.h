/* What happened on the device during one call, and its JSON form for the parent. */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../engine.h"

namespace vnpu::device {

constexpr size_t kMaxLaunches = 1000;  // kept one by one; the times of later ones are still summed
constexpr size_t kMaxNotices = 100;
constexpr size_t kMaxTimelines = 8;     // launches of a call that are recorded when asked for
constexpr size_t kMaxTextBytes = 2000;  // of any text that comes from the host

struct LoggedLaunch {
    std::string kernel;
    bool is_copy = false;
    uint32_t blocks = 0;
    LaunchReport report;
};

// Something the host library or the device process refused. `cause` is a value of piton.core.verdict.Cause; the parent checks it against those it accepts.
struct Notice {
    std::string cause;
    std::string message;
    uint64_t code = 0;  // offset in the library of the host code that asked; 0 when unknown
};

struct Log {
    std::vector<LoggedLaunch> launches;
    std::vector<Notice> notices;
    std::vector<uint64_t> modified_inputs;  // addresses
    uint64_t launch_count = 0;
    uint64_t total_cycles = 0;
    uint64_t host_to_device_bytes = 0;
    uint64_t device_to_host_bytes = 0;
    uint64_t device_to_device_bytes = 0;
    double launch_seconds = 0;  // wall-clock time spent in launches; no verdict depends on it, it tells a slow simulation from a hanging host
    bool is_cut = false;
    bool is_code_gone = false;   // the process of the device code has ended, its last words are the reason
    std::string engine_failure;  // ours, not the submission's: the parent cannot evaluate this call

    void add(LoggedLaunch launch);
    void add(const std::string &cause, const std::string &message, uint64_t code = 0);
    std::string json() const;
};

}  // namespace vnpu::device
