/*
 * The secure memory functions that host code calls: nothing is written where it does not fit.
 *
 * Limits: of the library's functions the two that public host code calls.
 */
#ifndef PITON_PROJECT_SECURE_H
#define PITON_PROJECT_SECURE_H

#include <cstddef>
#include <cstring>

#define EOK 0
using errno_t = int;

inline errno_t memset_s(void *to, std::size_t capacity, int value, std::size_t count) {
    if (to == nullptr || count > capacity) {
        return 1;
    }
    std::memset(to, value, count);
    return EOK;
}

inline errno_t memcpy_s(void *to, std::size_t capacity, const void *from, std::size_t count) {
    if (to == nullptr || from == nullptr || count > capacity) {
        return 1;
    }
    std::memcpy(to, from, count);
    return EOK;
}

#endif /* PITON_PROJECT_SECURE_H */
