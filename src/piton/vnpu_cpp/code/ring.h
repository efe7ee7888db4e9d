/*
 * The device side of the ring (engine/remote/channel.h): what device code's calls become.
 *
 * Problem: this process runs strangers' code and holds nothing worth reaching; it only has to hand records over fast, and to stop where the engine says so.
 * Approach: calls without an answer are put into the ring and the code runs on; the others wait for the engine's command. Addresses of texts never leave:
 * names of files get numbers, other texts are copied ahead of their record.
 * Limits: everything here is in reach of device code. What it breaks is its own launch.
 */
#pragma once

#include <cstdint>

#include "remote/channel.h"

namespace vnpu::code {

void open_ring(int ring_fd, int control_fd);  // throws std::runtime_error when it cannot be mapped

// The slot to fill next, with its kind and the blocks of scalar code so far; `put` hands it over.
remote::Slot &begin_slot(remote::Kind kind);
void put();
void put_text(const char *text, uint64_t bytes);  // ahead of the slot it belongs to; may fault where the text cannot be read

// The next command; waits for it.
struct Given {
    remote::Order order;
    uint32_t core;
    uint32_t kernel;
    uint64_t value;
};
Given next_command();
void take_budget();  // of the command that goes to code now: from here on blocks are counted anew

const void *arguments();
const uint8_t *page();
void set_core(uint32_t core);  // whose slots follow

}  // namespace vnpu::code
