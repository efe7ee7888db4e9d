/* Blocks of a launch as fibres of this process; the engine says which of them runs. */
#pragma once

#include <cstdint>

namespace vnpu::code {

[[noreturn]] void run_commands(const char *library);  // ends with the engine

bool is_in_kernel();           // code of a block is on the stack, not a static constructor
uint64_t await_answer();       // of the slot just put, for the block that runs; meanwhile others may run
void await_start_or_answer();  // of a record after which the launch may begin anew, with other cores

}  // namespace vnpu::code
