/* The inner loops for the base instruction set of the machine. */
#include "loops/begin.h"

#define VNPU_PATH portable
#define VNPU_PATH_NAME "portable"
#define VNPU_VECTOR_BYTES 16
#include "loops/all.h"

const vnpu::Loops *vnpu::portable_loops() { return &portable::kLoops; }
