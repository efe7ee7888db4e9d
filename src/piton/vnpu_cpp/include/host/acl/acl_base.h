/* Another name of acl/acl.h that programs include. */
#ifndef PITON_HOST_ACL_BASE_H
#define PITON_HOST_ACL_BASE_H

#include "acl/acl.h"

#endif
