/*
 * NpuArch: the number of an architecture, as host code of operators asks for it.
 *
 * Problem and approach: newer host code tells chips apart by architecture instead of by product; the names carry their numbers (DAV_2201 is 2201).
 * Limits: the architectures that public operators name; the chips simulated here are DAV_2201.
 */
#ifndef PITON_HOST_SOC_SPEC_H
#define PITON_HOST_SOC_SPEC_H

#include <cstdint>

enum class NpuArch : uint32_t {
    DAV_1001 = 1001,
    DAV_2002 = 2002,
    DAV_2201 = 2201,
    DAV_3002 = 3002,
    DAV_3003 = 3003,
    DAV_3102 = 3102,
    DAV_3113 = 3113,
    DAV_3510 = 3510,
    DAV_5102 = 5102,
    DAV_RESV = 0xFFFF,
};

#endif /* PITON_HOST_SOC_SPEC_H */
