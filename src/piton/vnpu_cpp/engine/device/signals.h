/* Last words of the device process: a fatal signal is reported to the parent before it ends the process. */
#pragma once

#include <cstdint>
#include <string>

namespace vnpu::device {

// Install the handlers, on a stack of their own; `parent_fd` is written to from the handler, with places in `library`, whose text has to stay.
void report_signals_to(int parent_fd, const char *library);

// A fault at an address for which `remedy` says true is no fault: the access is tried again.
void try_again_when(bool (*remedy)(uint64_t address));

// The kernel that a report will name; kept as bytes that a signal handler may read.
void set_running_kernel(const std::string &name);

}  // namespace vnpu::device
