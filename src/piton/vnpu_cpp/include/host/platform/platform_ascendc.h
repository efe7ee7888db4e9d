/*
 * Questions of a tiling function about the chip.
 *
 * Problem: host code asks for core counts and memory sizes of the chip it will run on.
 * Approach: the vendor's two classes, answered by the host library of the virtual NPU. In the device pass host functions are compiled too, but never run:
 * there every answer is 0, so that the device library needs nothing of the host.
 * Limits: no frequencies and bandwidths.
 */
#ifndef PITON_HOST_PLATFORM_ASCENDC_H
#define PITON_HOST_PLATFORM_ASCENDC_H

#include <cstdint>

#include "platform/soc_spec.h"
#include "vnpu/host_abi.h"

/* Defined in platform_resources.h: one chip, so that it holds nothing. */
namespace fe {
class PlatFormInfos;
}  // namespace fe

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };

/* Products that host code tells apart; every answer here is ASCEND910B. Host code compares them by name, their numbers are ours. */
enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,
    ASCEND310P,
    ASCEND310B,
    ASCEND910_95,
    ASCEND950,
    ASCEND910_93,
    ASCEND910_55,
    ASCEND910E,
    ASCEND310,
    ASCEND310C,
    ASCEND610LITE,
    KIRINX90,
    KIRIN9030,
    RESERVED_VERSION = 99999
};

class PlatformAscendC {
public:
    PlatformAscendC() = default;
    explicit PlatformAscendC(const fe::PlatFormInfos *) {}

    uint32_t GetCoreNumAiv() const { return static_cast<uint32_t>(Ask(PITON_PLATFORM_CORES_AIV)); }
    uint32_t GetCoreNumAic() const { return static_cast<uint32_t>(Ask(PITON_PLATFORM_CORES_AIC)); }
    /* On a chip with separate cores this is the number of cube cores. */
    uint32_t GetCoreNum() const { return GetCoreNumAic(); }
    uint32_t GetCoreNumVector() const { return GetCoreNumAiv(); }
    SocVersion GetSocVersion() const { return SocVersion::ASCEND910B; }
    NpuArch GetCurNpuArch() const { return NpuArch::DAV_2201; }

    /* Bytes of one core's memory (L2: of the chip); 0 for memories that are not modelled. */
    void GetCoreMemSize(const CoreMemType &memory, uint64_t &size) const {
        const int64_t question = QuestionFor(memory);
        size = question < 0 ? 0 : Ask(static_cast<uint32_t>(question));
    }

    uint32_t GetLibApiWorkSpaceSize() const { return 16u << 20; /* the documented system workspace of the 910B, 16 MiB */ }
    uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const {
        /* A mixed block takes one cube core and its vector cores together. */
        if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum) {
            return sliceNum;
        }
        const uint32_t ratio = aivCoreNum / aicCoreNum;
        return (sliceNum + ratio - 1) / ratio;
    }

private:
    static int64_t QuestionFor(CoreMemType memory) {
        switch (memory) {
            case CoreMemType::UB:
                return PITON_PLATFORM_UB_BYTES;
            case CoreMemType::L1:
                return PITON_PLATFORM_L1_BYTES;
            case CoreMemType::L0_A:
                return PITON_PLATFORM_L0A_BYTES;
            case CoreMemType::L0_B:
                return PITON_PLATFORM_L0B_BYTES;
            case CoreMemType::L0_C:
                return PITON_PLATFORM_L0C_BYTES;
            case CoreMemType::BT:
                return PITON_PLATFORM_BT_BYTES;
            case CoreMemType::L2:
                return PITON_PLATFORM_L2_BYTES;
            default:
                return -1;
        }
    }

    static uint64_t Ask(uint32_t what) {
#if defined(PITON_DEVICE_PASS)
        return what * 0;
#else
        return piton_host_platform(what);
#endif
    }
};

class PlatformAscendCManager {
public:
    static PlatformAscendC *GetInstance() {
        static PlatformAscendC platform;
        return &platform;
    }
    static PlatformAscendC *GetInstance(const char *) { return GetInstance(); }
};

}  // namespace platform_ascendc

#endif /* PITON_HOST_PLATFORM_ASCENDC_H */
