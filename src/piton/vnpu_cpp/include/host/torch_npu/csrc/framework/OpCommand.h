/*
 * OpCommand: how a plugin queues its launch.
 *
 * Problem: on a device the call is put into a task queue.
 * Approach: it runs at once, which a caller can't tell from a queue that is quick. A non-zero result is an error of the submission.
 * Limits: the builder interface for library operators (Name, Input, Output, Run) is not here: a submission brings its own kernels.
 */
#ifndef PITON_HOST_OP_COMMAND_H
#define PITON_HOST_OP_COMMAND_H

#include <functional>
#include <stdexcept>
#include <string>

#include "acl/acl.h"

namespace at_npu {
namespace native {

class OpCommand {
public:
    using PROCESS_FUNC = std::function<int()>;

    static void RunOpApi(const std::string &name, PROCESS_FUNC call, bool = false) {
        const int result = call();
        if (result != 0) {
            throw std::runtime_error("operator " + name + ": its launch returned " + std::to_string(result));
        }
    }
    static void RunOpApiV2(const std::string &name, const PROCESS_FUNC &call, bool sync = false) { RunOpApi(name, call, sync); }
};

}  // namespace native
}  // namespace at_npu

#endif /* PITON_HOST_OP_COMMAND_H */
