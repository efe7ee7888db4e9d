#include "server.h"

#include <cstring>
#include <stdexcept>

#include <poll.h>

#include "signals.h"
#include "timeline_frame.h"

namespace vnpu::device {

using wire::Type;

Server::Server(int memfd, int parent_fd, int host_fd, std::string library)
    : memory_(memfd), parent_fd_(parent_fd), host_fd_(host_fd), library_(std::move(library)) {
    if (!wire::send(parent_fd_, Type::Ready, wire::Writer().put(wire::kVersion).body())) throw std::runtime_error("the parent is gone");
}

void Server::run_code_elsewhere(int ring_fd, int control_fd) { remote_ = std::make_unique<remote::Remote>(ring_fd, control_fd, memory_); }

void Server::serve() {
    while (true) {
        pollfd ready[2] = {{parent_fd_, POLLIN, 0}, {host_fd_, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0) continue;
        wire::Frame frame;
        if (ready[0].revents != 0) {
            if (!wire::receive(parent_fd_, frame) || !answer_parent(frame)) return;
        } else if (ready[1].revents != 0) {
            if (!wire::receive(host_fd_, frame) || !answer_host(frame)) host_fd_ = -1;  // poll ignores a negative descriptor
        }
    }
}

bool Server::answer_parent(const wire::Frame &frame) {
    try {
        wire::Reader in(frame.body);
        return wire::send(parent_fd_, Type::Answer, answer(frame, in));
    } catch (const std::exception &error) {
        return wire::send(parent_fd_, Type::Refused, wire::Writer().text(error.what()).body());
    }
}

std::string Server::answer(const wire::Frame &frame, wire::Reader &in) {
    switch (frame.type) {
        case Type::Configure:
            configure(in);
            return "";
        case Type::BeginCase:
            begin_case();
            return "";
        case Type::Allocate: {
            const auto bytes = in.get<uint64_t>();
            const bool is_mutable = in.get<uint8_t>(), is_defined = in.get<uint8_t>();
            return wire::Writer().put(allocate_for_parent(bytes, is_mutable, is_defined)).body();
        }
        case Type::BeginCall:
            begin_call(in);
            return "";
        case Type::EndCall:
            return end_call();
        case Type::Describe: {
            const auto address = in.get<uint64_t>(), bytes = in.get<uint64_t>();
            return describe(address, bytes);
        }
        case Type::Record:
            record(in);
            return "";
        case Type::Timeline:
            return timeline(in.get<uint32_t>());
        default:
            throw std::runtime_error("unknown request " + std::to_string(static_cast<uint32_t>(frame.type)));
    }
}

void Server::configure(wire::Reader &in) {
    options_.auto_sync = in.get<uint8_t>();
    options_.timing_only = in.get<uint8_t>();
    options_.is_pessimistic = in.get<uint8_t>();
    options_.budget_cycles = in.get<uint64_t>();
    memory_limit_ = in.get<uint64_t>();
    const std::string table = in.text();
    in.done();
    if (!engine_) engine_ = std::make_unique<Engine>(parse_chip(table), memory_);
    engine_->configure(options_);
}

void Server::begin_case() {
    if (!engine_) throw std::runtime_error("the first request has to be configure");
    memory_.reset();
    host_live_.clear();
    parent_live_.clear();
    live_bytes_ = 0;
    in_call_ = false;
    ++generation_;
    engine_->cold_start();
}

uint64_t Server::allocate_for_parent(uint64_t bytes, bool is_mutable, bool is_defined) {
    const uint64_t address = bytes > memory_limit_ - live_bytes_ ? 0 : memory_.allocate(bytes, Owner::Parent, is_mutable);
    if (address == 0) return 0;
    Allocation *made = memory_.find(address, bytes);
    made->timing_only = options_.timing_only;
    if (is_defined && bytes > 0) made->defined.add(0, bytes);
    live_bytes_ += bytes;
    parent_live_[address] = bytes;
    return address;
}

void Server::begin_call(wire::Reader &in) {
    call_.copy_allowance = in.get<uint64_t>();
    call_.launches_do_nothing = in.get<uint8_t>();
    call_.repeats_answers = in.get<uint8_t>();
    call_.poison = in.get<uint8_t>();
    in.done();
    copies_told_.begin(call_.repeats_answers);
    clocks_told_.begin(call_.repeats_answers);
    const std::vector<Notice> earlier = std::move(log_.notices);  // refusals since the last call, such as those while the package was imported
    log_ = Log();
    log_.notices = earlier;
    timelines_.clear();
    in_call_ = true;
}

std::string Server::end_call() {
    in_call_ = false;
    for (const auto &[address, bytes] : parent_live_) {
        const Allocation *input = memory_.find(address, bytes);
        if (input && !input->is_mutable && !input->stored.ranges().empty()) log_.modified_inputs.push_back(address);
    }
    const std::string json = log_.json();
    log_ = Log();
    return json;
}

void Server::record(wire::Reader &in) {
    TimelineOptions options;
    options.is_on = in.get<uint8_t>();
    options.instructions = in.get<uint32_t>();
    for (auto count = in.get<uint32_t>(); count > 0; --count) options.blocks.push_back(in.get<uint32_t>());
    in.done();
    options_.timeline = options;
}

std::string Server::timeline(uint32_t number) {
    const bool is_there = number < timelines_.size();
    return wire::Writer().put<uint8_t>(is_there).body() + (is_there ? timelines_[number] : "");
}

std::string Server::describe(uint64_t address, uint64_t bytes) {
    const Allocation *found = memory_.find(address, bytes);
    if (!found)
        return wire::Writer().put<uint8_t>(0).put<uint64_t>(0).put<uint64_t>(0).put<uint8_t>(0).put<uint8_t>(0).put<uint64_t>(0).put<uint64_t>(0).body();
    const uint64_t begin = address - found->address, end = begin + bytes;  // the table's ranges count from the start of an allocation
    return wire::Writer()
        .put<uint8_t>(1)
        .put(found->address)
        .put(found->bytes)
        .put<uint8_t>(found->owner == Owner::Host)
        .put<uint8_t>(found->is_mutable)
        .put(found->address + found->defined.first_gap(begin, end))
        .put(found->address + found->stored.first_gap(begin, end))
        .body();
}

}  // namespace vnpu::device
