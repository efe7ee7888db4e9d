/*
 * The one way a violation or an observation leaves the engine.
 *
 * Problem: a defect inside a loop shows up millions of times, on every core; a person wants it once, with a count.
 * Approach: merged by (cause or kind, file, line, instruction), the first occurrence kept in full, distinct ones capped.
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine.h"
#include "vnpu/abi.h"

namespace vnpu {

using Numbers = std::vector<std::pair<std::string, int64_t>>;

// Where in the kernel's source something happened. `file` lives as long as the device library.
struct Place {
    const char *file = "";
    uint32_t line = 0;
    uint16_t opcode = VNPU_OP_NONE;
    uint8_t flags = 0;
    const char *api = nullptr;  // told by the framework classes with a fault
};

Place place_of(const vnpu_record &record);
std::string api_name(const Place &place);  // the vendor's spelling, such as DataCopyPad
std::string describe(const Place &place);  // "Add at exp.cpp:42"
const char *pipe_name(uint32_t pipe);
std::string hex(uint64_t value);

class Reporter {
public:
    explicit Reporter(uint32_t limit) : limit_(limit) {}
    void violation(const Place &place, int64_t core, const std::string &cause, const std::string &message, Numbers numbers = {},
                   std::vector<uint64_t> code = {});
    void finding(const Place &place, int64_t core, const std::string &kind, const std::string &message, Numbers numbers = {});
    bool has(const Place &place, const std::string &cause_or_kind);  // counts one more occurrence when it is known already
    std::vector<Diagnostic> take() { return std::move(found_); }

private:
    using Key = std::tuple<std::string, std::string, uint32_t, std::string>;
    void add(Diagnostic diagnostic);

    uint32_t limit_;
    std::map<Key, size_t> index_;
    std::vector<Diagnostic> found_;
};

}  // namespace vnpu
