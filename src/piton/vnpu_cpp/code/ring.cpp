#include "ring.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counter.h"

namespace vnpu::code {

using remote::Channel;
using remote::Kind;
using remote::Slot;

namespace {

Channel *channel = nullptr;
int control = -1;
uint32_t head = 0;
uint32_t serial = 0;
uint32_t core_now = 0;
uint32_t looks = remote::kLooks;

// Without an engine nobody would ever wake this process.
void end_without_engine() {
    pollfd state = {control, POLLIN, 0};
    if (poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0) _exit(0);
}

void wait_for_room() {
    while (true) {
        const uint32_t tail = channel->tail.load(std::memory_order_acquire);
        if (head - tail < remote::kSlots) return;
        if (remote::changed(channel->tail, tail, channel->is_device_asleep, looks) == tail) end_without_engine();
    }
}

}  // namespace

void open_ring(int ring_fd, int control_fd) {
    void *at = mmap(nullptr, sizeof(Channel), PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
    if (at == MAP_FAILED) throw std::runtime_error("cannot map the ring");
    channel = static_cast<Channel *>(at);
    control = control_fd;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < 2) looks = 0;  // looking would only keep the engine from its work
}

Slot &begin_slot(Kind kind) {
    wait_for_room();
    Slot &slot = channel->slots[head % remote::kSlots];
    slot.kind = kind;
    slot.core = core_now;
    slot.blocks = counted_blocks();
    slot.bytes = slot.has_text = 0;
    return slot;
}

void put() { remote::publish(channel->head, ++head, channel->is_engine_asleep); }

void put_text(const char *text, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes;) {
        char part[remote::kPayloadBytes];
        const auto size = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, sizeof part));
        std::memcpy(part, text + done, size);  // before the slot is begun: this may fault, and ask for a page through the ring
        Slot &slot = begin_slot(Kind::Text);
        std::memcpy(slot.payload, part, size);
        slot.bytes = size;
        put();
        done += size;
    }
}

Given next_command() {
    const remote::Command &command = channel->command;
    while (true) {
        const uint32_t now = remote::changed(channel->command.serial, serial, channel->is_device_asleep, looks);
        if (now != serial) {
            serial = now;
            return {command.order, command.core, command.kernel, command.value};
        }
        end_without_engine();
    }
}

void take_budget() { count_from(channel->command.budget_left); }

const void *arguments() { return channel->arguments; }

const uint8_t *page() { return channel->page; }

void set_core(uint32_t core) { core_now = core; }

}  // namespace vnpu::code
