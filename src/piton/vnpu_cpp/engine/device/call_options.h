/*
 * How one call is run: the ways in which the parent tries whether outputs come from kernels and from the values on the device.
 *
 * Problem: a submission may let the host compute, keep results of earlier calls, or count on what memory holds before anything is written there.
 * Approach: launches that do nothing (nothing may then appear in outputs); answers of the last ordinary call given again word for word while the device holds
 * other values (outputs may not follow the old ones); a pattern in memory that the host allocates. The host sees no difference.
 * Limits: what the host learns from the results of kernels that it has copied is repeated as well, what it learns by the processor's clock is not.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vnpu::device {

struct CallOptions {
    uint64_t copy_allowance = 0;
    bool launches_do_nothing = false;
    bool repeats_answers = false;  // of the last call that did not
    uint8_t poison = 0;            // byte that new memory of the host is filled with; 0 leaves it empty
};

// Memory beyond this stays empty: writing it would take memory from the machine that the submission itself may never use.
constexpr uint64_t kMostPoisonBytes = 64ull << 20;

// A call that may copy more, such as that of a whole program, is never repeated, and nothing of it is kept.
constexpr uint64_t kMostRepeatedBytes = 1 << 20;

// What the device told the host during a call, in order; the allowance of copies bounds the bytes.
template <typename Answer>
class Answers {
public:
    // Before a call: what is told from here on is kept, or what was kept is told again.
    void begin(bool repeats) {
        repeats_ = repeats;
        next_ = 0;
        if (!repeats) told_.clear();
    }

    // What to tell where `now` is true; nothing to a host that asks for something else than it did, since the truth would be what it is tried for.
    std::optional<Answer> tell(const Answer &now, bool (*is_alike)(const Answer &, const Answer &)) {
        if (!repeats_) {
            if (told_.size() < kMost) told_.push_back(now);
            return now;
        }
        if (next_ == told_.size() || !is_alike(told_[next_], now)) return std::nullopt;
        return told_[next_++];
    }

private:
    static constexpr size_t kMost = 10000;
    std::vector<Answer> told_;
    size_t next_ = 0;
    bool repeats_ = false;
};

}  // namespace vnpu::device
