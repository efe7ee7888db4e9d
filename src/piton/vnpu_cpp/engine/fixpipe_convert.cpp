/*
 * How Fixpipe changes an element.
 *
 * Float to half or bfloat16_t rounds to nearest; the scaled forms multiply in float by the parameter's 19 highest bits, as the vendor's page says, and add its
 * offset. Bit 48 of CTRL decides whether half keeps infinities.
 */
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cube_fixpipe.h"
#include "half.h"

namespace vnpu {

namespace {

constexpr float kHalfMax = 65504.0f;

Conversion conversion_of(const Core &core, const vnpu_record &record, const FixPlan &plan, uint64_t bits) {
    Conversion how{};
    how.quant = plan.quant;
    how.is_float = record.src0.dtype == VNPU_DT_F32;
    how.is_relu = (plan.mode & VNPU_FIX_RELU) != 0;
    how.keeps_infinities = (core.ctrl & kCtrlKeepsInfinities) != 0;
    how.scale = bits_as<float>(static_cast<uint32_t>(bits) & 0xffffe000u);
    how.shift = static_cast<uint32_t>(bits >> 32 & 0xf) + 1;
    how.is_shifted = (bits >> 36 & 1) != 0 && !how.is_float;
    how.offset = static_cast<int32_t>(static_cast<uint32_t>(bits >> 37 & 0x1ff) << 23) >> 23;
    how.is_signed = (bits >> 46 & 1) != 0;
    return how;
}

float saturated(const Conversion &how, float value, float largest) {
    if (how.keeps_infinities) return value;
    return std::isnan(value) ? 0.0f : std::clamp(value, -largest, largest);
}

// The scaled forms: what the page calls M1 for positive values, M2 (0 with ReLU) for negative ones.
float scaled(const Conversion &how, const uint8_t *at) {
    float value = bits_as<float>(uint32_t{0});
    int32_t whole = 0;
    std::memcpy(&whole, at, sizeof whole);
    if (how.is_float) std::memcpy(&value, at, sizeof value);
    if (!how.is_float) value = static_cast<float>(how.is_shifted ? std::clamp(whole >> how.shift, -32768, 32767) : whole);
    return how.is_relu && value < 0 ? 0.0f : value * how.scale;
}

uint8_t to_byte(const Conversion &how, float value) {
    const float rounded = std::isnan(value) ? 0.0f : std::clamp(std::nearbyint(value), -256.0f, 255.0f);
    const int32_t moved = static_cast<int32_t>(rounded) + how.offset;
    return static_cast<uint8_t>(how.is_signed ? std::clamp(moved, -128, 127) : std::clamp(moved, 0, 255));
}

// Bits of bfloat16, rounded to nearest, ties to even.
uint16_t float_to_bfloat(float value) {
    const uint32_t bits = bits_as<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace

void convert(const Conversion &how, const uint8_t *at, uint8_t *to) {
    if (how.quant == VNPU_QUANT_F32_B8 || how.quant == VNPU_QUANT_REQ_B8) {
        *to = to_byte(how, scaled(how, at));
        return;
    }
    uint32_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    const bool is_negative = how.is_float ? bits_as<float>(bits) < 0 : static_cast<int32_t>(bits) < 0;
    if (how.is_relu && is_negative) bits = 0;
    if (how.quant == VNPU_QUANT_NONE) {
        std::memcpy(to, &bits, sizeof bits);
        return;
    }
    const bool is_bfloat = how.quant == VNPU_QUANT_BF16;
    const float value = how.quant == VNPU_QUANT_DEQ_F16 ? scaled(how, at) : bits_as<float>(bits);
    const float largest = is_bfloat ? bits_as<float>(0x7f7f0000u) : kHalfMax;
    const uint16_t narrow = is_bfloat ? float_to_bfloat(saturated(how, value, largest)) : float_to_half(saturated(how, value, largest));
    std::memcpy(to, &narrow, sizeof narrow);
}

std::vector<Conversion> conversions_of(Core &core, const vnpu_record &record, const FixPlan &plan) {
    if (!plan.is_by_columns) return {conversion_of(core, record, plan, plan.parameter)};
    const uint8_t *words = on_chip(core, VNPU_SPACE_FB).bytes.data() + plan.parameters;
    std::vector<Conversion> all;
    for (uint64_t column = 0; column < plan.n; ++column) {
        uint64_t bits = 0;
        std::memcpy(&bits, words + column * kParameterBytes, sizeof bits);
        all.push_back(conversion_of(core, record, plan, bits));
    }
    return all;
}

}  // namespace vnpu
