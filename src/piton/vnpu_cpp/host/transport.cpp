#include "transport.h"

#include <mutex>
#include <stdexcept>

#include <sys/socket.h>

#include "../engine/wire.h"

namespace piton::host {

using vnpu::wire::Frame;
using vnpu::wire::Reader;
using vnpu::wire::Type;
using vnpu::wire::Writer;

namespace {

// One device per process: the submission's code has no handle to pass, so the connection is found here.
std::mutex connection_lock;
int connection_fd = -1;

void tell(Type type, const std::string &body) {
    if (connection_fd < 0 || !vnpu::wire::send(connection_fd, type, body)) throw std::runtime_error("the npu device is gone");
}

std::string ask(Type type, const std::string &body) {
    const std::lock_guard<std::mutex> hold(connection_lock);
    tell(type, body);
    Frame frame;
    if (!vnpu::wire::receive(connection_fd, frame)) throw std::runtime_error("the npu device is gone");
    if (frame.type == Type::Refused) throw std::runtime_error("npu device: " + Reader(frame.body).text());
    return frame.body;
}

}  // namespace

void connect(int device_fd) { connection_fd = device_fd; }

DeviceBlock allocate(uint64_t bytes) {
    const std::string body = ask(Type::HostAllocate, Writer().put(bytes).body());
    Reader in(body);
    const auto address = in.get<uint64_t>();
    return {address, in.get<uint64_t>(), bytes};
}

void release(const DeviceBlock &block) noexcept {
    const std::lock_guard<std::mutex> hold(connection_lock);
    try {
        tell(Type::HostFree, Writer().put(block.address).put(block.generation).body());
    } catch (const std::exception &) {
        // The device is gone and its memory with it; a destructor has nobody to tell.
    }
}

void launch(const std::string &kernel, uint32_t blocks, const void *arguments, uint32_t argument_bytes) {
    const std::string bytes(static_cast<const char *>(arguments), argument_bytes);
    ask(Type::HostLaunch, Writer().text(kernel).put(blocks).text(bytes).body());
}

void copy_in(uint64_t address, const void *data, uint64_t bytes) {
    ask(Type::HostCopyIn, Writer().put(address).text(std::string(static_cast<const char *>(data), bytes)).body());
}

void copy_out(void *data, uint64_t address, uint64_t bytes) {
    const std::string body = ask(Type::HostCopyOut, Writer().put(address).put(bytes).body());
    Reader in(body);
    const std::string found = in.text();
    if (found.size() != bytes) throw std::runtime_error("the npu device answered with another length");
    std::memcpy(data, found.data(), bytes);
}

void copy_device(uint64_t destination, uint64_t source, uint64_t bytes) { ask(Type::HostCopyDevice, Writer().put(destination).put(source).put(bytes).body()); }

uint64_t elapsed_cycles() {
    const std::string body = ask(Type::HostClock, "");
    Reader in(body);
    return in.get<uint64_t>();
}

void notice(const std::string &cause, const std::string &message, const void *caller) {
    ask(Type::HostNotice, Writer().text(cause).text(message).put(offset_in_package(caller)).body());
}

}  // namespace piton::host
