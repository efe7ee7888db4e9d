/* Basic blocks of scalar code since the last slot, and how many there may be until the engine has to be told. */
#pragma once

#include <cstdint>

namespace vnpu::code {

uint64_t counted_blocks();             // since the last call of this or of count_from
void count_from(int64_t budget_left);  // the engine told what is left

}  // namespace vnpu::code
