/* What `<<<>>>` needs in a CPU debug build: nothing here, every launch runs on the virtual NPU. */
#include "acl/acl.h"
