#include "blocks.h"

#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "block_locals.h"
#include "device/signals.h"
#include "engine.h"
#include "fibre.h"
#include "pages.h"
#include "ring.h"
#include "static_data.h"

namespace vnpu::code {

using remote::Kind;
using remote::Order;

namespace {

struct Block {
    std::unique_ptr<Fibre> fibre;
    const vnpu_kernel *kernel = nullptr;
    bool is_cube = false;  // the kind of core, for kernels that were compiled for each
    uint64_t answer = 0;
    BlockLocals locals;
};

std::vector<const vnpu_kernel *> kernels;  // in the order of their declaration
std::map<uint32_t, Block> blocks;          // that have started and not ended, by core
std::vector<std::unique_ptr<Fibre>> idle;
StaticData statics;
Block *current = nullptr;
uint32_t current_core = 0;
Given order = {};         // the newest
bool is_restart = false;  // that order begins the launch anew, with other cores

void end_block(Kind kind, const char *what) {
    if (what) put_text(what, strnlen(what, remote::kMaxNameBytes));
    begin_slot(kind).has_text = what != nullptr;
    put();
}

// Body of a fibre. An exception must not cross it, and is told to the engine, which says what became of the launch.
void run_body(void *argument) {
    try {
        const Block &block = *static_cast<Block *>(argument);
        vnpu::run_kernel(*block.kernel, block.is_cube, arguments());
        end_block(Kind::End, nullptr);
    } catch (const std::exception &error) {
        end_block(Kind::Threw, error.what());
    } catch (...) {  // whatever a kernel throws is its failure
        end_block(Kind::Threw, nullptr);
    }
}

void declare(const vnpu_kernel &kernel) {
    std::string text = std::string(kernel.name).substr(0, remote::kMaxNameBytes - 1);
    text += '\0';
    text += std::string(kernel.title ? kernel.title : "").substr(0, remote::kMaxNameBytes - 1);
    put_text(text.data(), text.size());
    const remote::Declaration declaration = {kernel.abi_version, kernel.core_kind, kernel.argument_bytes, kernel.cube_entry ? 1u : 0u, kernel.local_bytes};
    std::memcpy(begin_slot(Kind::Kernel).payload, &declaration, sizeof declaration);
    put();
    kernels.push_back(&kernel);
}

void load(const char *library) {
    device::set_running_kernel("(loading the device library)");
    void *const loaded = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!loaded) return end_block(Kind::LoadFailed, dlerror());
    device::set_running_kernel("");
    statics.keep(loaded);
    for (const std::string &name : kernel_names()) declare(*find_kernel(name));
    end_block(Kind::Loaded, nullptr);
}

void clean() {
    begin_slot(Kind::Cleaned).value = statics.put_back();
    put();
}

void go_on(uint32_t core, Block &block) {
    current = &block;
    current_core = core;
    set_core(core);
    take_budget();
    block.locals.enter();
    block.fibre->resume();
    block.locals.leave();
    current = nullptr;
    if (!block.fibre->is_done()) return;
    idle.push_back(std::move(block.fibre));
    blocks.erase(core);
}

void start(const Given &given) {
    Block &block = blocks[given.core];
    block.kernel = kernels.at(given.kernel);
    block.is_cube = given.value != 0;
    block.locals = BlockLocals(*block.kernel);
    device::set_running_kernel(block.kernel->title && *block.kernel->title ? block.kernel->title : block.kernel->name);
    if (idle.empty()) idle.push_back(std::make_unique<Fibre>());
    block.fibre = std::move(idle.back());
    idle.pop_back();
    block.fibre->start(run_body, &block);
    go_on(given.core, block);
}

}  // namespace

bool is_in_kernel() { return current != nullptr; }

uint64_t await_answer() {
    Block &self = *current;
    const Given given = next_command();
    if (given.order == Order::Continue && given.core == current_core) {
        take_budget();
        return given.value;
    }
    order = given;
    self.fibre->yield();  // to run_commands, with the order that was not for this block
    return self.answer;
}

void await_start_or_answer() {
    is_restart = true;
    await_answer();
    is_restart = false;
}

namespace {

// What the launch had started before it began anew never goes on.
void abandon_blocks() {
    for (auto &[core, block] : blocks) idle.push_back(std::move(block.fibre));
    blocks.clear();
    is_restart = false;
}

}  // namespace

// One order at a time: a block runs until it has ended or the engine has named another.
void run_commands(const char *library) {
    order = next_command();
    while (true) {
        const Given given = order;
        order = {};
        switch (given.order) {
            case Order::Load:
                load(library);
                break;
            case Order::Start:
                if (is_restart) abandon_blocks();
                start(given);
                break;
            case Order::Continue: {
                Block &block = blocks.at(given.core);
                block.answer = given.value;
                go_on(given.core, block);
                break;
            }
            case Order::Clean:
                clean();
        }
        if (order.order == Order{}) order = next_command();
    }
}

}  // namespace vnpu::code
