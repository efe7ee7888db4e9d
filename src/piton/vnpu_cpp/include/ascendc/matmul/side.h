/*
 * One input matrix of a Matmul object on its way: global memory to L1, L1 to L0A or L0B.
 *
 * Problem: a matrix is stored row by row or in fractals, transposed or not, in elements of 4 to 32 bits, and L0A and L0B each want fractals in their order.
 * Approach: a piece in L1 has its rows side by side in units of 32 bytes (what Nd2Nz gives). Loading goes over a grid of squares of 16 outer elements (m or n)
 * by one fractal of k; source and destination steps of that grid depend on the layout only, so that one function issues the LoadData of every case. Where k is
 * the slow axis in memory, squares are transposed on the way: one fractal for 2-byte elements, two for 1 and 4 bytes, four for 4 bits (page of
 * LoadDataWithTranspose). The two of 4-byte elements have to lie one behind the other, so that such a piece is kept in strips of 16 rows.
 * Limits: rows of 4-bit elements are whole bytes.
 */
#ifndef PITON_ASCENDC_MATMUL_SIDE_H
#define PITON_ASCENDC_MATMUL_SIDE_H

#include "../copy.h"
#include "../cube.h"
#include "../print.h"
#include "types.h"

namespace piton {

PITON_API constexpr uint32_t CeilTo(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
PITON_API constexpr uint32_t Pieces(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit; }

[[noreturn]] PITON_API void FailMatmul(const std::string &text, Location at) { FailAssertion(("Matmul: " + text).c_str(), at); }

/* A rectangle of a matrix: `outer` is m or n. */
struct Area {
    uint32_t outer;
    uint32_t k;
    uint32_t outers;
    uint32_t depth; /* elements of k */
};

struct Side {
    vnpu_operand start{}; /* of the core's part */
    CubeFormat format = CubeFormat::ND;
    uint32_t bits = 16;    /* of an element */
    uint32_t orgOuter = 0; /* of the whole matrix */
    uint32_t orgK = 0;
    uint32_t pitch = 0; /* of its rows in elements where the whole matrix does not say it */
    bool isLeft = true;
    bool isTransposed = false; /* stored k x m, or n x k */
    bool isSet = false;
    bool isRowByRow = false; /* rows too long for a stride of 16 bits are allowed */
    uint8_t flags = 0;       /* of its copies */

    PITON_API bool IsVector() const { return format == CubeFormat::VECTOR; }
    /* Whether k is the fast axis in memory. */
    PITON_API bool IsPlain() const { return IsVector() || isLeft != isTransposed; }
    PITON_API uint64_t Bytes(uint64_t elements) const { return elements * bits / 8; }
    PITON_API uint32_t Unit() const { return kBlockBytes * 8 / bits; } /* elements of 32 bytes */
    PITON_API bool IsInStrips() const { return !IsPlain() && bits == 32; }
    /* Small elements are transposed by squares of as many rows as 32 bytes have columns. */
    PITON_API bool IsInSquares() const { return !IsPlain() && bits <= 8; }
    /* Elements of outer and k in a square of the grid. */
    PITON_API uint32_t OuterStep() const { return IsInSquares() ? Unit() : 16; }
    PITON_API uint32_t DepthStep() const { return IsInStrips() ? 16 : Unit(); }
    /* Rows of a piece in L1, of which `rows` hold something. */
    PITON_API uint32_t RowPitch(uint32_t rows) const { return IsVector() ? 1 : CeilTo(rows, IsInSquares() ? Unit() : 16); }
    PITON_API uint32_t Columns(uint32_t columns) const { return CeilTo(columns, IsInStrips() ? 16 : IsVector() ? kFractalBytes * 8 / bits : Unit()); }
    PITON_API uint32_t PieceBytes(uint32_t outers, uint32_t depth) const {
        return static_cast<uint32_t>(Bytes(uint64_t(IsPlain() ? RowPitch(outers) : RowPitch(depth)) * (IsPlain() ? Columns(depth) : Columns(outers))));
    }
    /* What L0 takes for them. */
    PITON_API uint32_t TileBytes(uint32_t outers, uint32_t depth) const {
        const uint32_t rows = IsVector() ? 1 : CeilTo(outers, OuterStep());
        return static_cast<uint32_t>(Bytes(uint64_t(rows) * (IsVector() ? Columns(depth) : CeilTo(depth, DepthStep()))));
    }
};

/* Rows and columns as they lie in memory. */
struct Stored {
    uint32_t row;
    uint32_t column;
    uint32_t rows;
    uint32_t columns;
};

PITON_API Stored StoredArea(const Side &side, const Area &area) {
    return side.IsPlain() ? Stored{area.outer, area.k, area.outers, area.depth} : Stored{area.k, area.outer, area.depth, area.outers};
}

/* ---- global memory to L1 ---- */

PITON_API void SubmitRows(const Side &side, const vnpu_operand &dst, const Stored &part, uint32_t unitStep, Location at) {
    const uint64_t pitch = side.pitch != 0 ? side.pitch : side.IsPlain() ? side.orgK : side.orgOuter;
    vnpu_operand src = side.start;
    src.addr += side.Bytes(part.row * pitch + part.column);
    const bool isLong = pitch > UINT16_MAX && part.rows > 1;
    if (isLong && !side.isRowByRow) {
        FailMatmul("rows of " + std::to_string(pitch) + " elements: DataCopy steps over 65535 at most; set intrinsicsCheck in the MatmulConfig", at);
    }
    const uint32_t each = isLong ? 1 : part.rows, width = static_cast<uint32_t>(side.Bytes(part.columns));
    for (uint32_t row = 0; row < part.rows; row += each) {
        vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_ND2NZ, VNPU_PIPE_MTE2, After(dst, uint64_t(row) * kBlockBytes), src, {each, width, 0, 1}, at);
        record.src0.addr += side.Bytes(row * pitch);
        record.p[2] = static_cast<uint32_t>(each == 1 ? width : side.Bytes(pitch));
        record.flags = side.flags;
        record.mask[0] = uint64_t(unitStep) | uint64_t(kBlockBytes) << 32;
        Submit(record);
    }
}

/* Units of 32 bytes one below the other, column by column, as a matrix in fractals has them. */
PITON_API void SubmitColumns(const Side &side, const vnpu_operand &dst, const Stored &part, uint32_t unitStep, Location at) {
    const uint32_t pitch = CeilTo(side.IsPlain() ? side.orgOuter : side.orgK, 16), rows = CeilTo(part.rows, 16);
    vnpu_operand src = side.start;
    src.addr += (uint64_t(part.column) / side.Unit() * pitch + part.row) * kBlockBytes;
    const uint32_t columns = Pieces(part.columns, side.Unit()), bytes = rows * kBlockBytes;
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY, VNPU_PIPE_MTE2, dst, src, {columns, bytes, pitch * kBlockBytes - bytes, unitStep - bytes}, at);
    record.flags = side.flags;
    Submit(record);
}

/* An area into L1; for elements of 4 bytes that will be transposed in strips of 16 rows. */
PITON_API void LoadPiece(const Side &side, const vnpu_operand &dst, const Area &area, Location at) {
    const Stored part = StoredArea(side, area);
    const uint32_t height = side.IsInStrips() ? 16 : part.rows;
    const uint32_t unitStep = side.RowPitch(height) * kBlockBytes;
    for (uint32_t row = 0; row < part.rows; row += height) {
        const Stored strip{part.row + row, part.column, std::min(height, part.rows - row), part.columns};
        const vnpu_operand to = After(dst, side.Bytes(uint64_t(row) * side.Columns(part.columns)));
        side.format == CubeFormat::NZ ? SubmitColumns(side, to, strip, unitStep, at) : SubmitRows(side, to, strip, unitStep, at);
    }
}

/* ---- L1 to L0 ---- */

/* Steps in bytes along outer and k of the grid of squares. */
struct Grid {
    uint32_t outers;
    uint32_t depths;
    uint32_t srcOuter;
    uint32_t srcDepth;
    uint32_t dstOuter;
    uint32_t dstDepth;
    uint32_t fractalStep; /* between the two fractals of a square; 0 without transposition */
};

PITON_API Grid SourceGrid(const Side &side, const Area &piece, const Area &tile) {
    Grid grid{};
    grid.outers = Pieces(tile.outers, side.OuterStep());
    grid.depths = Pieces(tile.depth, side.DepthStep());
    const uint32_t pitch = side.RowPitch(side.IsPlain() ? piece.outers : piece.depth);
    if (side.IsPlain()) {
        grid.srcOuter = kFractalBytes;
        grid.srcDepth = pitch * kBlockBytes;
    } else if (side.IsInStrips()) {
        grid.srcOuter = 2 * kFractalBytes;
        grid.srcDepth = static_cast<uint32_t>(side.Bytes(side.Columns(piece.outers) * 16));
    } else {
        grid.srcOuter = pitch * kBlockBytes;
        grid.srcDepth = side.Unit() * kBlockBytes;
    }
    return grid;
}

PITON_API Grid TileGrid(const Side &side, const Area &piece, const Area &tile) {
    Grid grid = SourceGrid(side, piece, tile);
    const uint32_t inOuter = side.OuterStep() / 16, inDepth = side.DepthStep() / side.Unit(); /* fractals of a square */
    const uint32_t outer = side.isLeft ? grid.depths * inDepth * kFractalBytes : kFractalBytes;
    const uint32_t depth = side.isLeft ? kFractalBytes : grid.outers * inOuter * kFractalBytes;
    grid.dstOuter = inOuter * outer;
    grid.dstDepth = inDepth * depth;
    grid.fractalStep = side.IsPlain() ? 0 : side.bits == 32 ? depth : side.bits <= 8 ? outer : kFractalBytes;
    return grid;
}

PITON_API void SubmitGridLine(const Grid &grid, const vnpu_operand &dst, const vnpu_operand &src, uint32_t repeats, bool isAlongK, Location at) {
    constexpr uint32_t kMostRepeats = 255;
    const uint32_t srcStep = isAlongK ? grid.srcDepth : grid.srcOuter, dstStep = isAlongK ? grid.dstDepth : grid.dstOuter;
    for (uint32_t done = 0; done < repeats; done += kMostRepeats) {
        SubmitLoad(grid.fractalStep == 0 ? VNPU_OP_LOAD_DATA : VNPU_OP_LOAD_DATA_TRANSPOSE, After(dst, uint64_t(done) * dstStep),
                   After(src, uint64_t(done) * srcStep), std::min(kMostRepeats, repeats - done), srcStep, dstStep / kFractalBytes - 1, grid.fractalStep, at);
    }
}

/* `tile`, which lies in `piece`, to `dst` of L0A or L0B. The axis with more squares becomes the repeats; one instruction where both axes run on. */
PITON_API void LoadTile(const Side &side, const vnpu_operand &dst, const vnpu_operand &src, const Area &piece, const Area &tile, Location at) {
    const Grid grid = side.IsVector() ? Grid{1, Pieces(static_cast<uint32_t>(side.Bytes(tile.depth)), kFractalBytes), 0, kFractalBytes, 0, kFractalBytes, 0}
                                      : TileGrid(side, piece, tile);
    const uint64_t skipped =
        side.IsVector() ? side.Bytes(tile.k - piece.k)
                        : uint64_t(tile.outer - piece.outer) / side.OuterStep() * grid.srcOuter + uint64_t(tile.k - piece.k) / side.DepthStep() * grid.srcDepth;
    const vnpu_operand from = After(src, skipped);
    if (grid.srcDepth == grid.srcOuter * grid.outers && grid.dstDepth == grid.dstOuter * grid.outers) {
        return SubmitGridLine(grid, dst, from, grid.outers * grid.depths, false, at);
    }
    if (grid.srcOuter == grid.srcDepth * grid.depths && grid.dstOuter == grid.dstDepth * grid.depths) {
        return SubmitGridLine(grid, dst, from, grid.outers * grid.depths, true, at);
    }
    const bool isAlongK = grid.depths >= grid.outers;
    for (uint32_t line = 0; line < (isAlongK ? grid.outers : grid.depths); ++line) {
        const uint64_t srcAt = uint64_t(line) * (isAlongK ? grid.srcOuter : grid.srcDepth), dstAt = uint64_t(line) * (isAlongK ? grid.dstOuter : grid.dstDepth);
        SubmitGridLine(grid, After(dst, dstAt), After(from, srcAt), isAlongK ? grid.depths : grid.outers, isAlongK, at);
    }
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_SIDE_H */
