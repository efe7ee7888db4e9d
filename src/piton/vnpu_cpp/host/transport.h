/*
 * The host process's side of the conversation with the device process.
 *
 * Problem: host code of a submission works with device memory that lies in another process.
 * Approach: every allocation, copy and launch is one request; a device pointer is an address of device memory, reserved here without access, so that touching
 * it faults at once and is reported as what it is.
 * Limits: requests are answered one after another; a launch returns when it has been executed.
 */
#pragma once

#include <cstdint>
#include <string>

namespace piton::host {

// What an allocation is known by. A handle from an earlier case frees nothing (`generation`).
struct DeviceBlock {
    uint64_t address = 0;
    uint64_t generation = 0;
    uint64_t bytes = 0;
};

// Each throws std::runtime_error with the device's words when it refuses, and when it is gone.
DeviceBlock allocate(uint64_t bytes);
void release(const DeviceBlock &block) noexcept;
void launch(const std::string &kernel, uint32_t blocks, const void *arguments, uint32_t argument_bytes);
void copy_in(uint64_t address, const void *data, uint64_t bytes);
void copy_out(void *data, uint64_t address, uint64_t bytes);
void copy_device(uint64_t destination, uint64_t source, uint64_t bytes);

// Simulated cycles of all launches and device copies so far.
uint64_t elapsed_cycles();

// Log that this library refused something; `cause` is a value of piton.core.verdict.Cause, `caller` an address in the code that asked for it.
void notice(const std::string &cause, const std::string &message, const void *caller = nullptr);

void connect(int device_fd);

// Reserve the addresses of device memory; report a fault on them, and any other crash with its place in libraries below the folder `package`, to `status_fd`.
void guard_device_addresses(int status_fd, const std::string &package);

// When `seconds` have passed, write to `status_fd` where the main thread is then; 0 stops the clock.
void tell_place_after(double seconds);

// Offset of the call that returns to `caller` in a library below that folder; 0 for other code.
uint64_t offset_in_package(const void *caller);

}  // namespace piton::host
