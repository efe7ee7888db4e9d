/* Kernels of the device libraries loaded so far. Filled by static constructors while a library is loaded, read at launch. */
#include <map>
#include <stdexcept>
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

void run_kernel(const vnpu_kernel &kernel, bool is_cube, const void *arguments) {
    const auto entry = is_cube && kernel.cube_entry ? kernel.cube_entry : kernel.entry;
    if (!entry) throw std::runtime_error(std::string("device library has no code of ") + kernel.title + " for vector cores: rebuild it");
    entry(arguments);
}

std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const auto &entry : kernels()) names.push_back(entry.first);
    return names;
}

}  // namespace vnpu

extern "C" void vnpu_register_kernel(const vnpu_kernel *kernel) {
    vnpu_kernel &known = vnpu::kernels()[kernel->name];
    const vnpu_kernel other = known;  // the pass for the other kind of core, if there was one
    known = *kernel;
    if (!known.entry) known.entry = other.entry;
    if (!known.cube_entry && other.cube_entry && !other.entry) known.cube_entry = other.cube_entry;
}
