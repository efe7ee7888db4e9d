/*
 * Device addresses in a process that has no device memory.
 *
 * Problem: kernels may read global memory through raw `__gm__` pointers; a store through one is an error that has to be found.
 * Approach: the addresses are reserved without access. The first touch of a page asks the engine for a copy, which may be read and not written, so that a store
 * faults a second time. Copies are forgotten at the next record, since that is what changes global memory.
 * Limits: a copy costs a round trip, so code that reads many raw pointers between records is slow.
 */
#pragma once

#include <cstdint>

namespace vnpu::code {

void reserve_device_addresses();      // throws std::runtime_error when they are taken
bool provide_page(uint64_t address);  // from a signal handler: true when the access may be tried again
void forget_pages();

}  // namespace vnpu::code
