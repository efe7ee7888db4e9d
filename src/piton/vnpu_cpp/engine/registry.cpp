/* Kernels of the device libraries loaded so far. Filled by static constructors while a library is loaded, read at launch. */
#include <map>
#include <string>
#include <vector>

#include "engine.h"

namespace vnpu {

namespace {

// A function-local static: registration runs in static constructors of other units, before any ordinary global here need exist.
std::map<std::string, vnpu_kernel> &kernels() {
    static std::map<std::string, vnpu_kernel> table;
    return table;
}

}  // namespace

const vnpu_kernel *find_kernel(const std::string &name) {
    const auto found = kernels().find(name);
    return found == kernels().end() ? nullptr : &found->second;
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const auto &entry : kernels()) names.push_back(entry.first);
    return names;
}

}  // namespace vnpu

extern "C" void vnpu_register_kernel(const vnpu_kernel *kernel) { vnpu::kernels()[kernel->name] = *kernel; }
