/*
 * fe::PlatFormInfos: what a tiling context answers to GetPlatformInfo, with the questions that are asked of it directly.
 *
 * Problem: beside PlatformAscendC host code asks for entries of the chip's configuration by label and key, as text.
 * Approach: the entries that public operators read and that follow from documented facts about the Ascend 910B: counts of cores, cube and vector cores that
 * are apart, results that leave L0C by Fixpipe, a bias table for 32-bit floats. An entry that is not here is reported as missing, as on the chip.
 * Limits: no frequencies and no rates of memories, so that host code which wants them fails by its own check.
 */
#ifndef PITON_HOST_PLATFORM_RESOURCES_H
#define PITON_HOST_PLATFORM_RESOURCES_H

#include <string>

#include "platform/platform_ascendc.h"

namespace fe {

enum class LocalMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, RESERVED };

class PlatFormInfos {
public:
    uint32_t GetCoreNum() const { return Chip().GetCoreNum(); }
    /* "VectorCore" asks for vector cores; every other name for cube cores. */
    uint32_t GetCoreNumByType(const std::string &type) const { return type == "VectorCore" ? Chip().GetCoreNumAiv() : Chip().GetCoreNumAic(); }
    void GetLocalMemSize(LocalMemType memory, uint64_t &bytes) const { Chip().GetCoreMemSize(static_cast<platform_ascendc::CoreMemType>(memory), bytes); }
    /* False, and no text, for an entry that is not known. */
    bool GetPlatformRes(const std::string &label, const std::string &key, std::string &value) const {
        value = Answer(label, key);
        return !value.empty();
    }

private:
    static platform_ascendc::PlatformAscendC Chip() { return {}; }
    static std::string Answer(const std::string &label, const std::string &key) {
        if (label == "SoCInfo") {
            return Counted(key);
        }
        if (label == "version") {
            return key == "SoC_version" || key == "Short_SoC_version" ? "Ascend910B" : "";
        }
        return label == "AICoreintrinsicDtypeMap" ? Types(key) : "";
    }
    static std::string Counted(const std::string &key) {
        if (key == "cube_vector_combine") {
            return "split";
        }
        if (key == "vector_core_cnt") {
            return std::to_string(Chip().GetCoreNumAiv());
        }
        return key == "ai_core_cnt" || key == "cube_core_cnt" ? std::to_string(Chip().GetCoreNumAic()) : "";
    }
    /* Host code asks whether there is an entry, and whether it names bfloat16 or eight by four bits: neither does. */
    static std::string Types(const std::string &key) {
        return key == "Intrinsic_fix_pipe_l0c2out" ? "f322f16" : key == "Intrinsic_data_move_l12bt" ? "f322f32" : "";
    }
};

}  // namespace fe

#endif /* PITON_HOST_PLATFORM_RESOURCES_H */
