#include "paths.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace vnpu {

const Loops *find_path(const char *name) {
    for (const Loops *path : {avx512_loops(), avx2_loops(), portable_loops()})
        if (path && std::strcmp(path->name, name) == 0) return path;
    return nullptr;
}

namespace {

const Loops *best_path() { return avx512_loops() ? avx512_loops() : avx2_loops() ? avx2_loops() : portable_loops(); }

const Loops *first_choice() {
    const char *wanted = std::getenv("VNPU_PATH");
    if (!wanted) return best_path();
    const Loops *path = find_path(wanted);
    if (path) return path;
    std::fprintf(stderr, "VNPU_PATH is %s, which this machine does not have; expected portable, avx2 or avx512. The best path is taken.\n", wanted);
    return best_path();
}

const Loops *&in_use() {
    static const Loops *path = first_choice();
    return path;
}

}  // namespace

const Loops &loops() { return *in_use(); }

bool use_path(const char *name) {
    const Loops *path = find_path(name);
    if (path) in_use() = path;
    return path != nullptr;
}

VectorKernel cast_kernel(uint8_t from, uint8_t to, uint32_t round_mode) { return loops().cast(from, to, round_mode); }

VectorKernel vector_kernel(uint16_t opcode, uint8_t dst_dtype, uint8_t src_dtype, uint32_t round_mode) {
    return loops().vector(opcode, dst_dtype, src_dtype, round_mode);
}

}  // namespace vnpu
