/*
 * System calls of the process that runs device code.
 *
 * Problem: an NPU has no system calls; device code that makes one wants something that no kernel needs: files, sockets, signals to others, more processes.
 * Approach: before the device library is loaded a filter is set that lets through what the ring, the fibres and the loader need. Everything else ends the
 * process with SIGSYS, which its last words tell.
 * Limits: where the machine has no seccomp the process runs without; files that it may see can be opened for reading.
 */
#pragma once

namespace vnpu::code {

bool filter_system_calls();  // false: not possible here

}  // namespace vnpu::code
