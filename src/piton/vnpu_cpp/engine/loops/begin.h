/* What the bodies use, before any instruction set is switched on: functions of these headers must not come out for a processor that is not there. */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "half.h"
#include "mathematics.h"
#include "paths.h"
#include "vector_kernels.h"
#include "vnpu/abi.h"
