/* Member functions of CubeCore (core.h): the instructions of one step. */
#ifndef PITON_ASCENDC_MATMUL_CORE_STEPS_H
#define PITON_ASCENDC_MATMUL_CORE_STEPS_H

#include "core.h"
#include "rooms.h"

namespace piton {

/* The piece of L1 that holds `tile`, loaded if it has to be; `piece` becomes its area. */
PITON_API vnpu_operand CubeCore::Piece(bool isLeft, const Area &tile, Area &piece, Location at) {
    const Side &side = isLeft ? left_ : right_;
    const uint32_t outers = isLeft ? m_ : n_;
    if (isLeft ? traits.isLeftOnChip : traits.isRightOnChip) {
        piece = {0, 0, outers, k_};
        return side.start;
    }
    const PieceShape shape = ShapeOf(isLeft);
    const uint32_t row = tile.outer / shape.outers, column = tile.k / shape.depth;
    piece = {row * shape.outers, column * shape.depth, 0, 0};
    piece.outers = std::min(shape.outers, outers - piece.outer);
    piece.depth = std::min(shape.depth, k_ - piece.k);
    bool isThere = false;
    const vnpu_operand to = (isLeft ? leftPieces_ : rightPieces_).Find(*pipe_, row, column, traits.inputDtype, isThere, at);
    if (!isThere) {
        (isLeft ? loadLeft : loadRight) != nullptr ? CallLoad(isLeft, to, piece, row, column) : LoadPiece(side, to, piece, at);
        pipe_->Cube().Pass(loaded_, at);
    }
    return to;
}

PITON_API void CubeCore::CallLoad(bool isLeft, const vnpu_operand &to, const Area &piece, uint32_t row, uint32_t column) const {
    const uint32_t address = static_cast<uint32_t>(to.addr);
    const AscendC::LocalTensor<int8_t> target(AscendC::TPosition::A1, address, address + to.limit, to.limit, nullptr);
    const __gm__ void *matrix = reinterpret_cast<const __gm__ void *>((isLeft ? left_ : right_).start.addr);
    if (isLeft) {
        loadLeft(target, matrix, row, column, piece.outers, piece.depth, userInfo, selfData);
    } else {
        loadRight(target, matrix, column, row, piece.depth, piece.outers, userInfo, selfData);
    }
}

/* Bytes one behind the other from global memory to L1. */
PITON_API void CubeCore::LoadLine(const vnpu_operand &to, const vnpu_operand &from, uint32_t bytes, Location at) const {
    vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_ND2NZ, VNPU_PIPE_MTE2, to, from, {1, bytes, bytes, 1}, at);
    record.mask[0] = uint64_t(kBlockBytes) | uint64_t(kBlockBytes) << 32;
    Submit(record);
}

/* The bias of a block into the bias table, where L1 has it from now or from before. */
PITON_API void CubeCore::LoadBias(const Block &block, Location at) {
    const uint32_t bytes = BiasBytes();
    vnpu_operand from = After(bias_, uint64_t(block.column) * bytes);
    const bool isGlobal = bias_.space == VNPU_SPACE_GM;
    if (isGlobal) {
        vnpu_operand held{};
        held.addr = biasAt_;
        held.limit = CeilTo(tiling_.baseN * 4, kFractalBytes);
        held.space = VNPU_SPACE_L1;
        held.dtype = traits.biasDtype;
        pipe_->Cube().Wait(biasFree_, at);
        LoadLine(held, from, block.columns * bytes, at);
        pipe_->Cube().Pass(loaded_, at);
        from = held;
    }
    vnpu_operand table{};
    table.limit = kUnbounded;
    table.space = VNPU_SPACE_BT;
    table.dtype = traits.sumDtype;
    Submit(CopyRecord(VNPU_OP_DATA_COPY, VNPU_PIPE_MTE1, table, from, {1, CeilTo(block.columns * 4, 64) * bytes / 4, 0, 0}, at));
    if (isGlobal) {
        pipe_->Cube().Set(biasFree_, at);
    }
}

/* One step of k of a block: both tiles into their half of L0, then the product. */
PITON_API void CubeCore::Multiply(const Block &block, uint32_t k, bool isFirst, const vnpu_operand &results, Location at) {
    const uint32_t depth = std::min(static_cast<uint32_t>(tiling_.baseK), k_ - k), half = tiles_++ % halves_;
    const Area left{block.row, k, block.rows, depth}, right{block.column, k, block.columns, depth};
    Area leftPiece{}, rightPiece{};
    const vnpu_operand leftAt = Piece(true, left, leftPiece, at), rightAt = Piece(false, right, rightPiece, at);
    vnpu_operand l0a{}, l0b{};
    l0a.addr = l0b.addr = half * kL0Bytes / 2;
    l0a.limit = l0b.limit = kL0Bytes / halves_;
    l0a.space = VNPU_SPACE_L0A;
    l0b.space = VNPU_SPACE_L0B;
    l0a.dtype = l0b.dtype = traits.inputDtype;
    CubeFlags &flags = pipe_->Cube();
    const bool takesBias = isFirst && hasBias_;
    flags.Wait(tileFree_[half], at);
    if (takesBias) {
        flags.Wait(tileFree_[1 - half], at); /* the last product with a bias may be the one before */
        LoadBias(block, at);
    }
    LoadTile(left_, l0a, leftAt, leftPiece, left, at);
    LoadTile(right_, l0b, rightAt, rightPiece, right, at);
    flags.Pass(tileLoaded_, at);
    const uint32_t unitFlag = unitFlag_ == 0 ? 0 : k + depth >= k_ ? 3 : 2;
    SubmitProduct(block, k, depth, unitFlag | (takesBias ? VNPU_MMAD_BIAS : isFirst ? VNPU_MMAD_ZERO : 0), results, at);
    flags.Set(tileFree_[half], at);
}

PITON_API void CubeCore::SubmitProduct(const Block &block, uint32_t, uint32_t depth, uint32_t mode, const vnpu_operand &results, Location at) {
    /* One row is read as a vector by Mmad, which it is for A of that format only. */
    const uint32_t m = left_.IsVector() ? 1 : block.rows == 1 ? 16 : block.rows, n = CeilTo(block.columns, right_.OuterStep() > 16 ? right_.OuterStep() : 1);
    const bool adds = (mode & (VNPU_MMAD_ZERO | VNPU_MMAD_BIAS)) == 0;
    if (adds && (m / 16) * (n / 16) < 10) {
        SubmitBarrier(VNPU_PIPE_M, VNPU_F_QUEUE, at); /* page of Mmad: small products are not kept in order */
    }
    vnpu_record record = MakeNote(VNPU_OP_MMAD, at, m, n, depth);
    record.p[3] = mode | (left_.IsInStrips() ? VNPU_MMAD_K_ALIGN : 0);
    record.pipe = VNPU_PIPE_M;
    record.dst = results;
    record.src0.addr = record.src1.addr = halves_ == 2 ? (tiles_ - 1) % 2 * kL0Bytes / 2 : 0;
    record.src0.limit = record.src1.limit = kL0Bytes / halves_;
    record.src0.space = VNPU_SPACE_L0A;
    record.src1.space = VNPU_SPACE_L0B;
    record.src0.dtype = record.src1.dtype = traits.inputDtype;
    record.mask[1] = kUnbounded;
    Submit(record);
}

PITON_API QuantMode_t QuantOf(uint8_t sum, uint8_t result) {
    const bool isFloat = sum == VNPU_DT_F32;
    if (result == VNPU_DT_F16) {
        return isFloat ? QuantMode_t::F322F16 : QuantMode_t::DEQF16;
    }
    if (result == VNPU_DT_BF16) {
        return QuantMode_t::F322BF16;
    }
    const bool isByte = result == VNPU_DT_I8 || result == VNPU_DT_U8;
    return isByte ? isFloat ? QuantMode_t::QF322B8_PRE : QuantMode_t::REQ8 : QuantMode_t::NoQuant;
}

/* The same with a number per column. */
PITON_API QuantMode_t PerColumn(QuantMode_t mode) {
    return mode == QuantMode_t::DEQF16 ? QuantMode_t::VDEQF16 : mode == QuantMode_t::QF322B8_PRE ? QuantMode_t::VQF322B8_PRE : QuantMode_t::VREQ8;
}

/* Scales of a block's columns in L1; from global memory they are loaded unless they are there. */
PITON_API vnpu_operand CubeCore::QuantsOf(const Block &block, Location at) {
    constexpr uint32_t bytes = 8;
    const vnpu_operand from = After(quantVector_.start, uint64_t(block.column) * bytes);
    if (from.space == VNPU_SPACE_L1) {
        return from;
    }
    const uint32_t needed = CeilTo(tiling_.baseN * bytes, kFractalBytes);
    if (needed > quantBytes_) {
        quantAt_ = pipe_->TakeForCube(AscendC::TPosition::A1, needed, at);
        quantBytes_ = needed;
        quantColumn_ = kNoColumn;
    }
    vnpu_operand held{};
    held.addr = quantAt_;
    held.limit = quantBytes_;
    held.space = VNPU_SPACE_L1;
    held.dtype = VNPU_DT_U64;
    if (quantColumn_ != block.column) {
        pipe_->Cube().Pass(quantFree_, at); /* what is there has been used */
        LoadLine(held, from, block.columns * bytes, at);
        pipe_->Cube().Pass(quantLoaded_, at);
        quantColumn_ = block.column;
    }
    return held;
}

PITON_API void CubeCore::SubmitResult(const Block &block, const ResultPlace &place, Location at) {
    const bool isByRows = place.format != CubeFormat::NZ;
    const uint32_t width = config.isEnableChannelSplit ? 8 : place.bytes == 1 ? 32 : 16; /* columns side by side in fractals */
    const uint32_t whole = place.pitch != 0 ? place.pitch : resultN_;
    const uint32_t rows = place.isSequential ? block.rows : place.height != 0 ? place.height : orgM_;
    const uint32_t columns = place.isSequential ? block.columns : whole;
    const uint32_t pitch = !isByRows ? CeilTo(rows, 16) : place.format == CubeFormat::ND_ALIGN ? CeilTo(columns, kBlockBytes / place.bytes) : columns;
    const uint64_t skipped = place.isSequential ? 0
                             : isByRows         ? uint64_t(block.row) * pitch + block.column
                                                : (uint64_t(block.column) / width * pitch + block.row) * width;
    const vnpu_operand to = After(place.start, skipped * place.bytes);
    AscendC::FixpipeParamsV220 params;
    params.nSize = static_cast<uint16_t>(block.columns);
    params.mSize = static_cast<uint16_t>(block.rows);
    params.srcStride = static_cast<uint16_t>(ResultRows(block.rows));
    params.dstStride = isByRows ? pitch : pitch * width * place.bytes / kBlockBytes;
    params.quantPre = QuantOf(traits.sumDtype, traits.resultDtype);
    params.deqScalar = quantScalar_;
    params.reluEn = config.enableRelu;
    params.unitFlag = unitFlag_ == 0 ? 0 : 3;
    params.isChannelSplit = config.isEnableChannelSplit;
    if (place.atomic != 0) {
        SubmitAtomic(static_cast<AtomicKind>(place.atomic), traits.resultDtype, at);
    }
    if (store != nullptr) {
        CallStore(block, place, to.addr, at);
    } else if (quantVector_.isSet && params.quantPre >= QuantMode_t::DEQF16) {
        params.quantPre = PerColumn(params.quantPre);
        FixByParts(to, ResultsAt(block.buffer), QuantsOf(block, at), params, {isByRows, place.bytes, place.flags}, at);
    } else {
        SubmitFixpipe(to, ResultsAt(block.buffer), params, isByRows, place.bytes, place.flags, at);
    }
    if (place.atomic != 0) {
        SubmitAtomic(kAtomicNone, VNPU_DT_NONE, at);
    }
}

PITON_API void CubeCore::CallStore(const Block &block, const ResultPlace &place, uint64_t address, Location) const {
    const vnpu_operand results = ResultsAt(block.buffer);
    const uint32_t from = static_cast<uint32_t>(results.addr);
    const AscendC::LocalTensor<int8_t> tensor(AscendC::TPosition::CO1, from, from + results.limit, results.limit, nullptr);
    const uint32_t rows = ResultRows(block.rows);
    const AscendC::DataCopyOutParams params{static_cast<uint16_t>(Pieces(block.columns, 16)),
                                            static_cast<uint16_t>(block.rows * 2),
                                            static_cast<uint16_t>(rows - block.rows),
                                            place.format == CubeFormat::NZ ? CeilTo(orgM_, 16) : resultN_,
                                            static_cast<uint16_t>(block.columns),
                                            false,
                                            quantScalar_,
                                            0};
    store(reinterpret_cast<const __gm__ void *>(address), tensor, &params, userInfo, selfData);
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_CORE_STEPS_H */
