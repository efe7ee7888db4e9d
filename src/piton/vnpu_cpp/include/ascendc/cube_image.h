/*
 * LoadData with LoadData3DParamsV2 and V2Pro: a part of a feature map's image-to-column matrix, L1 to L0A or L0B, and the registers it goes by.
 *
 * Problem: the vendor's structures hold two dozen numbers, some of which belong to registers that keep their values.
 * Approach: the numbers go into one record; flags say which registers the call sets first (IsResetLoad3dConfig).
 * Limits: LoadData3DParamsV1 does not exist on the Ascend 910B; enSmallK does nothing, as there.
 */
#ifndef PITON_ASCENDC_CUBE_IMAGE_H
#define PITON_ASCENDC_CUBE_IMAGE_H

#include "cube.h"

namespace AscendC {

struct IsResetLoad3dConfig {
    bool isSetFMatrix = true;
    bool isSetPadding = true;
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };

template <typename T>
struct LoadData3DParamsV2 {
    PITON_API LoadData3DParamsV2() {}
    PITON_API LoadData3DParamsV2(const uint8_t padding[4], const uint16_t height, const uint16_t width, const uint16_t channels, const uint16_t columns,
                                 const uint16_t rows, const uint16_t firstColumn, const uint16_t firstRow, const uint8_t strideWIn, const uint8_t strideHIn,
                                 const uint8_t filterWIn, const uint8_t filterHIn, const uint8_t dilationW, const uint8_t dilationH, const bool transposes,
                                 const bool smallK, const T value)
        : LoadData3DParamsV2(padding, height, width, channels, columns, rows, firstColumn, firstRow, strideWIn, strideHIn, filterWIn, filterHIn, dilationW,
                             dilationH, transposes, smallK, value, false, false, false) {}
    PITON_API LoadData3DParamsV2(const uint8_t padding[4], const uint16_t height, const uint16_t width, const uint16_t channels, const uint16_t columns,
                                 const uint16_t rows, const uint16_t firstColumn, const uint16_t firstRow, const uint8_t strideWIn, const uint8_t strideHIn,
                                 const uint8_t filterWIn, const uint8_t filterHIn, const uint8_t dilationW, const uint8_t dilationH, const bool transposes,
                                 const bool smallK, const T value, const bool wider, const bool higher, const bool fromRight)
        : padList{padding[0], padding[1], padding[2], padding[3]},
          l1H(height),
          l1W(width),
          channelSize(channels),
          kExtension(columns),
          mExtension(rows),
          kStartPt(firstColumn),
          mStartPt(firstRow),
          strideW(strideWIn),
          strideH(strideHIn),
          filterW(filterWIn),
          filterH(filterHIn),
          dilationFilterW(dilationW),
          dilationFilterH(dilationH),
          enTranspose(transposes),
          enSmallK(smallK),
          padValue(value),
          filterSizeW(wider),
          filterSizeH(higher),
          fMatrixCtrl(fromRight) {}

    uint8_t padList[4] = {0, 0, 0, 0}; /* left, right, top, bottom, in pixels */
    uint16_t l1H = 0;
    uint16_t l1W = 0;
    uint16_t channelSize = 0;
    uint16_t kExtension = 0; /* columns, rows, and the first of each, of the matrix of windows */
    uint16_t mExtension = 0;
    uint16_t kStartPt = 0;
    uint16_t mStartPt = 0;
    uint8_t strideW = 1;
    uint8_t strideH = 1;
    uint8_t filterW = 1;
    uint8_t filterH = 1;
    uint8_t dilationFilterW = 1;
    uint8_t dilationFilterH = 1;
    bool enTranspose = false; /* on the way to L0A; to L0B it is always turned over */
    bool enSmallK = false;    /* nothing on this chip */
    T padValue = T();
    bool filterSizeW = false; /* 256 more */
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
};

/* The same without what registers hold: SetFmatrix, SetLoadDataPaddingValue. */
struct LoadData3DParamsV2Pro {
    uint16_t channelSize = 0;
    bool enTranspose = false;
    bool enSmallK = false;
    bool filterSizeW = false;
    bool filterSizeH = false;
    bool fMatrixCtrl = false;
    uint64_t extConfig = 0;                   /* kExtension, mExtension, kStartPt, mStartPt: 16 bits each, from the lowest on */
    uint64_t filterConfig = 0x10101010101ull; /* strideW, strideH, filterW, filterH, dilationFilterW, dilationFilterH: 8 bits each */
};

struct LoadDataRepeatParam {
    PITON_API LoadDataRepeatParam() {}
    PITON_API LoadDataRepeatParam(const uint16_t stride, const uint8_t times, const uint8_t mode) : repeatStride(stride), repeatTime(times), repeatMode(mode) {}

    uint16_t repeatStride = 0; /* in 16 rows, or 32 bytes of columns */
    uint8_t repeatTime = 1;
    uint8_t repeatMode = 0; /* 0: downwards, 1: sideways */
};

}  // namespace AscendC

namespace piton {

template <typename T>
constexpr bool kIsImage = kIsOneOf<T, AscendC::int4b_t, int8_t, uint8_t, half, bfloat16_t, int32_t, uint32_t, float>;

/* What both forms come to. */
struct ImageLoad {
    uint64_t ext;    /* extConfig */
    uint64_t filter; /* filterConfig */
    uint32_t channels;
    uint32_t flags; /* VNPU_IMAGE_* */
    bool isWider, isHigher;
    uint64_t shape, padding;
};

PITON_API uint64_t ImageShape(uint32_t height, uint32_t width, const uint8_t pad[4]) {
    return height | uint64_t(width) << 16 | uint64_t(pad[0]) << 32 | uint64_t(pad[1]) << 40 | uint64_t(pad[2]) << 48 | uint64_t(pad[3]) << 56;
}

PITON_API void SubmitImageLoad(const vnpu_operand &dst, const vnpu_operand &src, const ImageLoad &load, Location at) {
    const auto rows = uint32_t(load.ext >> 16 & 0xffff), columns = uint32_t(load.ext & 0xffff);
    vnpu_record record = MakeNote(VNPU_OP_LOAD_IMAGE, at, rows | columns << 16, uint32_t(load.ext >> 48) | uint32_t(load.ext >> 32 & 0xffff) << 16,
                                  uint32_t(load.filter & 0xffff) | uint32_t(load.filter >> 32 & 0xffff) << 16);
    record.p[3] = load.flags;
    record.pipe = VNPU_PIPE_MTE1;
    record.dst = dst;
    record.src0 = src;
    record.scalar = load.padding;
    record.mask[0] = load.shape;
    record.mask[1] = ((load.filter >> 16 & 0xff) + (load.isWider ? 256 : 0)) | ((load.filter >> 24 & 0xff) + (load.isHigher ? 256 : 0)) << 16 |
                     uint64_t(load.channels) << 32;
    Submit(record);
}

PITON_API void SubmitImageRegister(uint32_t which, uint64_t value, Location at) {
    vnpu_record record = MakeNote(VNPU_OP_SET_IMAGE, at, which);
    record.scalar = value;
    Submit(record);
}

}  // namespace piton

namespace AscendC {

template <typename T, const IsResetLoad3dConfig &defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG>
PITON_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<T> &loadDataParams,
                        piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("LoadData as convolution", piton::kIsImage<T>, "int4b_t, int8_t, uint8_t, half, bfloat16_t, int32_t, uint32_t, float");
    const LoadData3DParamsV2<T> &load = loadDataParams;
    piton::ImageLoad all{};
    all.ext = load.kExtension | uint64_t(load.mExtension) << 16 | uint64_t(load.kStartPt) << 32 | uint64_t(load.mStartPt) << 48;
    all.filter = load.strideW | uint64_t(load.strideH) << 8 | uint64_t(load.filterW) << 16 | uint64_t(load.filterH) << 24 |
                 uint64_t(load.dilationFilterW) << 32 | uint64_t(load.dilationFilterH) << 40;
    all.channels = load.channelSize;
    all.flags = (load.enTranspose ? VNPU_IMAGE_TRANSPOSE : 0) | (load.fMatrixCtrl ? VNPU_IMAGE_RIGHT_SHAPE : 0) |
                (defaultConfig.isSetFMatrix ? VNPU_IMAGE_SETS_SHAPE : 0) | (defaultConfig.isSetPadding ? VNPU_IMAGE_SETS_PADDING : 0);
    all.isWider = load.filterSizeW, all.isHigher = load.filterSizeH;
    all.shape = piton::ImageShape(load.l1H, load.l1W, load.padList);
    all.padding = piton::ToBits(load.padValue);
    piton::SubmitImageLoad(dst.Operand(), src.Operand(), all, at);
}

template <typename T>
PITON_API void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2Pro &loadDataParams,
                        piton::Location at = piton::Location()) {
    PITON_REQUIRE_TYPE("LoadData as convolution", piton::kIsImage<T>, "int4b_t, int8_t, uint8_t, half, bfloat16_t, int32_t, uint32_t, float");
    const LoadData3DParamsV2Pro &load = loadDataParams;
    piton::ImageLoad all{};
    all.ext = load.extConfig, all.filter = load.filterConfig, all.channels = load.channelSize;
    all.flags = (load.enTranspose ? VNPU_IMAGE_TRANSPOSE : 0) | (load.fMatrixCtrl ? VNPU_IMAGE_RIGHT_SHAPE : 0);
    all.isWider = load.filterSizeW, all.isHigher = load.filterSizeH;
    piton::SubmitImageLoad(dst.Operand(), src.Operand(), all, at);
}

PITON_API void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[4], const FmatrixMode &fmatrixMode, piton::Location at = piton::Location()) {
    piton::SubmitImageRegister(fmatrixMode == FmatrixMode::FMATRIX_RIGHT ? VNPU_IMAGE_SHAPE_RIGHT : VNPU_IMAGE_SHAPE_LEFT, piton::ImageShape(l1H, l1W, padList),
                               at);
}

template <typename T>
PITON_API void SetLoadDataPaddingValue(const T padValue, piton::Location at = piton::Location()) {
    piton::SubmitImageRegister(VNPU_IMAGE_PADDING, piton::ToBits(padValue), at);
}

PITON_API void SetLoadDataBoundary(uint32_t boundaryValue, piton::Location at = piton::Location()) {
    piton::SubmitImageRegister(VNPU_IMAGE_BOUNDARY, boundaryValue, at);
}

PITON_API void SetLoadDataRepeat(const LoadDataRepeatParam &repeatParams, piton::Location at = piton::Location()) {
    piton::RequireRange("SetLoadDataRepeat", 0, repeatParams.repeatMode, 0, 1, at);
    vnpu_record record = piton::MakeNote(VNPU_OP_SET_IMAGE, at, VNPU_IMAGE_REPEATS, repeatParams.repeatTime, repeatParams.repeatStride);
    record.p[3] = repeatParams.repeatMode;
    piton::Submit(record);
}

}  // namespace AscendC

#endif /* PITON_ASCENDC_CUBE_IMAGE_H */
