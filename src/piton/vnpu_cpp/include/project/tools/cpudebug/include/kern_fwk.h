/* The documented path of the CPU debug interface. */
#include "tikicpulib.h"
