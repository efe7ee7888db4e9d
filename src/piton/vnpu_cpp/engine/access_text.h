/* Words about an access, for messages. */
#pragma once

#include "diagnostics.h"

namespace vnpu {

inline const char *verb(bool is_write) { return is_write ? "writes" : "reads"; }
inline const char *past_verb(bool is_write) { return is_write ? "wrote" : "read"; }

inline std::string bytes_text(const char *space, uint64_t begin, uint64_t end, bool is_gm) {
    if (is_gm) return std::string(space) + " bytes " + hex(begin) + ".." + hex(end);
    return std::string(space) + " bytes " + std::to_string(begin) + ".." + std::to_string(end);
}

}  // namespace vnpu
