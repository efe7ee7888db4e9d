/*
 * The device process's two conversations: with the parent, which it trusts, and with the host process, which it does not.
 *
 * Problem: a submission's host code may send anything at any time; what it does outside a call must not count, and what it asks for must be logged.
 * Approach: one loop, one request at a time, the parent's first. Host requests are checked against the allocation table; launches and copies are refused
 * outside a call, so that nothing can change between the end of a call and the reading of its outputs.
 * Limits: a launch is not interrupted; the engine's budget ends it, or the parent ends the process.
 */
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "../engine.h"
#include "../memory.h"
#include "../remote/remote.h"
#include "../static_data.h"
#include "../wire.h"
#include "call_options.h"
#include "log.h"

namespace vnpu::device {

class Server {
public:
    Server(int memfd, int parent_fd, int host_fd, std::string library);
    void run_code_elsewhere(int ring_fd, int control_fd);  // device code is in another process (remote/remote.h)
    void serve();                                          // until the parent is gone

private:
    bool answer_parent(const wire::Frame &frame);
    std::string answer(const wire::Frame &frame, wire::Reader &in);
    void configure(wire::Reader &in);
    void begin_case();
    void begin_call(wire::Reader &in);
    std::string end_call();
    std::string describe(uint64_t address, uint64_t bytes);
    void record(wire::Reader &in);
    std::string timeline(uint32_t number);
    uint64_t allocate_for_parent(uint64_t bytes, bool is_mutable, bool is_defined);

    bool answer_host(const wire::Frame &frame);
    std::string answer_host_request(const wire::Frame &frame, wire::Reader &in);
    std::string host_allocate(uint64_t bytes);
    void fill_new_memory(uint64_t address, uint64_t bytes);
    void host_free(uint64_t address, uint64_t generation);
    void host_launch(const std::string &name, uint32_t blocks, const std::string &arguments);
    const vnpu_kernel &kernel_named(const std::string &name, size_t argument_bytes);
    void load_library();
    std::string load_elsewhere();
    LaunchReport launch(const vnpu_kernel &kernel, uint32_t blocks, const std::string &arguments);
    void forget_static_data(LaunchReport &report);
    void run(const vnpu_kernel &kernel, uint32_t blocks, const std::string &arguments);
    void copy_in(uint64_t address, const std::string &bytes);
    std::string copy_out(uint64_t address, uint64_t bytes);
    void copy_device(uint64_t destination, uint64_t source, uint64_t bytes);
    void spend_allowance(uint64_t bytes, const char *direction);
    void require_call(const char *what) const;
    Allocation &readable(uint64_t address, uint64_t bytes);
    Allocation &writable(uint64_t address, uint64_t bytes);
    void refuse_in_place(const Allocation &target, const char *what);
    void violation(const std::string &kernel, const std::string &cause, const std::string &message);

    DeviceMemory memory_;
    int parent_fd_;
    int host_fd_;
    std::string library_;
    StaticData statics_;                      // of a library in this process
    std::unique_ptr<remote::Remote> remote_;  // null: device code is in this process
    bool is_loaded_ = false;
    bool is_code_lost_ = false;  // its process was left in the middle of a launch
    std::unique_ptr<Engine> engine_;
    EngineOptions options_;
    Log log_;
    std::vector<std::string> timelines_;  // of the first launches of a call, when they are recorded
    bool in_call_ = false;
    CallOptions call_;
    Answers<std::string> copies_told_;
    Answers<uint64_t> clocks_told_;
    uint64_t memory_limit_ = kArenaBytes;
    uint64_t live_bytes_ = 0;
    uint64_t generation_ = 0;                   // of the case; a host's handle from an earlier one frees nothing
    std::map<uint64_t, uint64_t> host_live_;    // address -> bytes
    std::map<uint64_t, uint64_t> parent_live_;  // address -> bytes
};

}  // namespace vnpu::device
