/*
 * The few types and functions of the runtime API that a direct-launch submission names.
 *
 * Problem: plugins spell stream and error types of the vendor's runtime.
 * Approach: the types, and the calls that mean nothing on a device whose launches are synchronous to the host.
 * Limits: no allocation and no copies: device memory comes from torch.
 */
#ifndef PITON_HOST_ACL_H
#define PITON_HOST_ACL_H

#include <cstddef>
#include <cstdint>

typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
typedef int aclError;

static const aclError ACL_SUCCESS = 0;
static const aclError ACL_ERROR_NONE = 0;

inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }

inline aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }

#endif /* PITON_HOST_ACL_H */
