/* How the runtime API learns that a launch did not come to its end. */
#pragma once

#include <string>

namespace piton::host {

// From now on every call of the runtime API answers with an AI core exception; `why` is what aclGetRecentErrMsg says.
void note_device_failure(const std::string &why);

}  // namespace piton::host
