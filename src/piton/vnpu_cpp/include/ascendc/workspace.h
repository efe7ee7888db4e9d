/*
 * SetSysWorkspace, GetSysWorkSpacePtr, GetUserWorkspace: where a kernel's workspace lies.
 *
 * Problem and approach: the system's part comes first, 16 MiB on the Ascend 910B (what GetLibApiWorkSpaceSize answers there); the user's part follows. The
 * pointer is state of the core, kept by the engine.
 * Limits: nothing of ours uses the system's part.
 */
#ifndef PITON_ASCENDC_WORKSPACE_H
#define PITON_ASCENDC_WORKSPACE_H

#include "record.h"

namespace piton {

constexpr uint64_t kSystemWorkspaceBytes = 16u << 20;

}  // namespace piton

namespace AscendC {

PITON_API void SetSysWorkspace(GM_ADDR workspace, piton::Location at = piton::Location()) {
    vnpu_record record = piton::MakeNote(VNPU_OP_SET_SYS_WORKSPACE, at);
    record.scalar = reinterpret_cast<uint64_t>(workspace);
    piton::Submit(record);
}

PITON_API void SetSysWorkspaceForce(GM_ADDR workspace, piton::Location at = piton::Location()) { SetSysWorkspace(workspace, at); }

PITON_API __gm__ uint8_t *GetSysWorkSpacePtr(piton::Location at = piton::Location()) {
    return reinterpret_cast<__gm__ uint8_t *>(piton::Fetch(piton::MakeNote(VNPU_OP_GET_SYS_WORKSPACE, at)));
}

PITON_API GM_ADDR GetUserWorkspace(GM_ADDR workspace, piton::Location = piton::Location()) { return workspace + piton::kSystemWorkspaceBytes; }

}  // namespace AscendC

/* Also global names, as kernels write them. */
using AscendC::GetSysWorkSpacePtr;
using AscendC::GetUserWorkspace;
using AscendC::SetSysWorkspace;

#endif /* PITON_ASCENDC_WORKSPACE_H */
