/* Shared by the files that need torch. */
#pragma once

#include <c10/core/Allocator.h>

namespace piton::host {

c10::Allocator &allocator();

}  // namespace piton::host
