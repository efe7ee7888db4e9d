/* Another name of acl/acl.h that plugins include. */
#ifndef PITON_HOST_ACL_RT_H
#define PITON_HOST_ACL_RT_H

#include "acl/acl.h"

#endif
