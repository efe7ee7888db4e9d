/*
 * Device code that runs in another process, as the engine sees it.
 *
 * Problem: strangers' device code must reach neither device memory nor the engine, yet every verdict has to be the one it would have had in this process.
 * Approach: the body of a block's fibre does not call the kernel, it takes the records that the other process puts into the shared ring (channel.h) and hands
 * them to vnpu_submit and vnpu_fetch as the kernel would have. Whoever goes on is chosen by the engine's own scheduler; the other process is told.
 * What comes through the ring is checked here: its frame (sizes, the core, the order), texts and names, and addresses that the engine would follow, which are
 * replaced by the engine's own copies. What is inside a record is checked where it is executed, in both arrangements alike (checked.h).
 * Limits: scalar code is counted by the process that runs it; a library that changes its own count is told less time (docs/processes.md).
 */
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../core.h"
#include "channel.h"

namespace vnpu::remote {

// Why there is no next slot.
enum class Silence { None, Gone, TooLong, Nonsense };

class Remote {
public:
    // Maps the shared memory; `control_fd` is closed at its other end when the process is gone. Throws std::runtime_error when that fails.
    Remote(int ring_fd, int control_fd, DeviceMemory &memory);
    ~Remote();
    Remote(const Remote &) = delete;
    Remote &operator=(const Remote &) = delete;

    // Have the device library loaded and its kernels registered here. Empty, or why that failed; is_gone() when the process ended over it.
    std::string load();
    void begin(const vnpu_kernel &kernel, const std::string &arguments);  // of a launch
    void run_block(Core &core);                                           // in place of the kernel, on the block's fibre
    // After a launch: put the library's static data back. How many bytes had changed; nothing when the process sends something else than that.
    std::optional<uint64_t> clean();
    bool is_gone() const { return is_gone_; }

private:
    Silence next(Slot &slot);
    void order(Order order, uint32_t core, uint32_t kernel, uint64_t value, int64_t budget_left);
    bool is_control_closed() const;
    [[noreturn]] void stop(Core &core, Silence silence);
    [[noreturn]] void refuse(Core &core, const std::string &what);
    bool serve(Core &core, const Slot &slot);
    void issue(Core &core, const Slot &slot);
    void answer(Core &core, uint64_t value);
    void spend(Core &core, const Slot &slot);
    void scalar_slice(Core &core, const Slot &slot);
    void send_page(Core &core, uint64_t address);
    void ended_by_exception(const Slot &slot);
    bool add_text(const Slot &slot);
    bool add_name();
    bool declare(const Slot &slot);
    void own_addresses(Core &core, const Slot &slot, vnpu_record &record);
    uint64_t name_at(uint64_t index) const;

    Channel *channel_ = nullptr;
    int control_fd_;
    DeviceMemory &memory_;
    uint32_t tail_ = 0;
    uint32_t serial_ = 0;
    uint32_t looks_;
    bool is_gone_ = false;
    std::string text_;
    std::deque<std::string> names_;  // a deque, so that they stay where they are: records of recorded launches refer to them
    std::deque<std::string> kernel_texts_;
    std::map<std::string, uint32_t> kernels_;
    uint32_t running_kernel_ = 0;
    uint32_t seats_ = 0;
};

}  // namespace vnpu::remote
