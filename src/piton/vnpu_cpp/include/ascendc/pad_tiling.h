/*
 * Tiling structures of Pad and UnPad, as host code fills them in and kernels read them.
 *
 * Problem: host and kernel share the bytes, and the host's form has setters.
 * Approach: the documented fields in order, once as lists. Height and width in memory, the width that counts; what follows divides the vendor's work.
 * Limits: what divides the work has no effect here and is 0.
 */
#ifndef PITON_ASCENDC_PAD_TILING_H
#define PITON_ASCENDC_PAD_TILING_H

#include <cstdint>

/* clang-format off */
#define PITON_PAD_FIELDS(X)                                                                                                                       \
    X(srcHeight) X(srcWidth) X(srcOriWidth) X(widthWithoutLastBlock) X(blocksPerRow) X(heightTiling) X(heightFractal) X(heightFractalTail)         \
    X(mainLoopOffset) X(tailBlockOffset) X(tmpBuffer1BlockNum) X(tmpBuffer1RowNum) X(tmpBuffer2Offset) X(widthTiling) X(widthFractal)              \
    X(widthFractalTail) X(widthFractalTailAlingned) X(brcbTiling) X(brcbFractal) X(brcbFractalTail) X(maxRepeatTimes) X(brcbTilingRepeatTimes)     \
    X(brcbTilingRepeatTimesTail)
#define PITON_UNPAD_FIELDS(X)                                                                                                                     \
    X(srcHeight) X(srcWidth) X(tmpBuffer1BlockNum) X(tmpBuffer1RowNum) X(tmpBuffer2Offset) X(widthTiling) X(widthFractal) X(widthFractalTail)
/* clang-format on */

namespace AscendC {
namespace tiling {

#define PITON_FIELD(name) uint32_t name = 0;
struct PadTiling {
    PITON_PAD_FIELDS(PITON_FIELD)
};
struct UnPadTiling {
    PITON_UNPAD_FIELDS(PITON_FIELD)
};
#undef PITON_FIELD

}  // namespace tiling
}  // namespace AscendC

using AscendC::tiling::PadTiling;
using AscendC::tiling::UnPadTiling;

#endif /* PITON_ASCENDC_PAD_TILING_H */
