/* Member functions of CubeCore (core.h): set-up and the order of the work. The instructions are in core_steps.h. */
#ifndef PITON_ASCENDC_MATMUL_CORE_IMPL_H
#define PITON_ASCENDC_MATMUL_CORE_IMPL_H

#include "core_checks.h"
#include "rooms.h"

namespace piton {

PITON_API CubeCore::PieceShape CubeCore::ShapeOf(bool isLeft) const {
    const Side &side = isLeft ? left_ : right_;
    const uint32_t base = isLeft ? tiling_.baseM : tiling_.baseN, step = AtLeastOne(isLeft ? tiling_.stepM : tiling_.stepN);
    const uint32_t stepK = AtLeastOne(isLeft ? tiling_.stepKa : tiling_.stepKb), depth = AtLeastOne(isLeft ? tiling_.depthA1 : tiling_.depthB1);
    PieceShape shape{};
    shape.outers = IsLargeLoad() ? base * step : base;
    shape.depth = static_cast<uint32_t>(tiling_.baseK) * (IsLargeLoad() ? stepK : 1);
    shape.slots = IsLargeLoad() ? AtLeastOne(static_cast<int32_t>(depth / (step * stepK))) : depth;
    Side other = side;
    other.isTransposed = !side.isTransposed;
    const bool canTurn = isLeft ? traits.canTransposeLeft : traits.canTransposeRight;
    shape.slotBytes = side.PieceBytes(shape.outers, shape.depth);
    if (canTurn && other.PieceBytes(shape.outers, shape.depth) > shape.slotBytes) {
        shape.slotBytes = other.PieceBytes(shape.outers, shape.depth);
    }
    shape.slotBytes = CeilTo(shape.slotBytes, kFractalBytes);
    return shape;
}

/* Room for the bias beside the pieces. A constant tiling whose pieces fill L1, as those of public samples do, takes none. */
PITON_API uint64_t CubeCore::BiasBytes(uint64_t pieceBytes, Location at) {
    const uint64_t bytes = tiling_.isBias ? CeilTo(tiling_.baseN * 4, kFractalBytes) : 0;
    if (tiling_.isBias == kMaybeBias && pieceBytes + bytes > Fetch(MakeNote(VNPU_OP_GET_CAPACITY, at, VNPU_SPACE_L1))) {
        tiling_.isBias = 0;
    }
    return tiling_.isBias ? bytes : 0;
}

PITON_API void CubeCore::PlaceInL1(Location at) {
    const PieceShape left = ShapeOf(true), right = ShapeOf(false);
    const uint64_t leftBytes = traits.isLeftOnChip ? 0 : uint64_t(left.slots) * left.slotBytes;
    const uint64_t rightBytes = traits.isRightOnChip ? 0 : uint64_t(right.slots) * right.slotBytes;
    const uint64_t biasBytes = BiasBytes(leftBytes + rightBytes, at), needed = leftBytes + rightBytes + biasBytes;
    if (needed > l1Bytes_) {
        const std::string what = Product("pieces of A of", left.outers, left.depth, left_.bits, left.slots) + ", with " +
                                 Product("pieces of B of", right.depth, right.outers, right_.bits, right.slots) + " and " + std::to_string(biasBytes) +
                                 " bytes of bias";
        CheckRoom(what, needed, Fetch(MakeNote(VNPU_OP_GET_CAPACITY, at, VNPU_SPACE_L1)), "L1", at);
        l1At_ = pipe_->TakeForCube(AscendC::TPosition::A1, static_cast<uint32_t>(needed), at);
        l1Bytes_ = static_cast<uint32_t>(needed);
    }
    leftPieces_.Place(l1At_, left.slotBytes, left.slots);
    rightPieces_.Place(static_cast<uint32_t>(l1At_ + leftBytes), right.slotBytes, right.slots);
    biasAt_ = static_cast<uint32_t>(l1At_ + leftBytes + rightBytes);
}

/* L0C is shared by the objects of a pipe: one of them works at a time. */
PITON_API void CubeCore::PlaceResults(Location at) {
    CubeFlags &shared = pipe_->Cube();
    const uint32_t needed = ResultBytes() * ResultBuffers();
    if (traits.hasOwnResults || needed <= shared.resultBytes) {
        return;
    }
    const uint32_t more = pipe_->TakeForCube(AscendC::TPosition::CO1, needed - shared.resultBytes, at);
    const bool isBehind = shared.resultBytes != 0 && more == shared.resultsAt + shared.resultBytes;
    if (shared.resultBytes == 0 || isBehind) {
        shared.resultsAt = isBehind ? shared.resultsAt : more;
        shared.resultBytes = needed;
        return;
    }
    shared.resultsAt = pipe_->TakeForCube(AscendC::TPosition::CO1, needed, at);
    shared.resultBytes = needed;
}

PITON_API void CubeCore::Init(AscendC::TPipe &pipe, const TCubeTiling &given, Location at) {
    pipe_ = &pipe;
    tiling_ = given;
    CheckTiling(at);
    pipe.Cube().GiveBack(pipe, at);
    PlaceInL1(at);
    PlaceResults(at);
    const uint32_t baseM = tiling_.baseM, baseN = tiling_.baseN, baseK = tiling_.baseK;
    const bool isTwice = tiling_.dbL0A == 2 && tiling_.dbL0B == 2;
    halves_ = isTwice && left_.TileBytes(baseM, baseK) * 2 <= kL0Bytes && right_.TileBytes(baseN, baseK) * 2 <= kL0Bytes ? 2 : 1;
    SetOrgShape(tiling_.M, tiling_.N, tiling_.Ka, tiling_.Kb, 0);
    SetSingleShape(tiling_.singleCoreM, tiling_.singleCoreN, tiling_.singleCoreK);
    hasBias_ = false;
    waitings_ = 0;
}

PITON_API void CubeCore::SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb, int32_t kc) {
    orgM_ = m;
    orgN_ = n;
    orgKa_ = ka;
    orgKb_ = kb;
    resultN_ = kc > 0 ? kc : n;
    leftPieces_.Clear();
    rightPieces_.Clear();
}

PITON_API void CubeCore::SetSingleShape(int32_t m, int32_t n, int32_t k) {
    m_ = m < 0 ? m_ : static_cast<uint32_t>(m);
    n_ = n < 0 ? n_ : static_cast<uint32_t>(n);
    k_ = k < 0 ? k_ : static_cast<uint32_t>(k);
    quantColumn_ = kNoColumn; /* blocks may have more columns than those whose scales are there */
    leftPieces_.Clear();
    rightPieces_.Clear();
    Restart();
}

PITON_API void CubeCore::SetLeft(const Side &side, Location at) {
    if (side.isTransposed && !traits.canTransposeLeft) {
        FailMatmul("SetTensorA(.., true): the MatmulType of A has to have ISTRANS true", at);
    }
    left_ = side;
    left_.isSet = true;
    leftPieces_.Clear();
    Restart();
}

PITON_API void CubeCore::SetRight(const Side &side, Location at) {
    if (side.isTransposed && !traits.canTransposeRight) {
        FailMatmul("SetTensorB(.., true): the MatmulType of B has to have ISTRANS true", at);
    }
    right_ = side;
    right_.isSet = true;
    rightPieces_.Clear();
    Restart();
}

PITON_API void CubeCore::TakeTurn(Location at) {
    using E = AscendC::HardEvent;
    CubeFlags &flags = pipe_->Cube();
    if (flags.User() == this) {
        return;
    }
    flags.GiveBack(*pipe_, at);
    flags.SetUser(this);
    loaded_ = flags.Take(*pipe_, E::MTE2_MTE1, at);
    tileLoaded_ = flags.Take(*pipe_, E::MTE1_M, at);
    product_ = flags.Take(*pipe_, E::M_FIX, at);
    biasFree_ = flags.Take(*pipe_, E::MTE1_MTE2, at);
    quantLoaded_ = flags.Take(*pipe_, E::MTE2_FIX, at);
    quantFree_ = flags.Take(*pipe_, E::FIX_MTE2, at);
    for (uint32_t half = 0; half < 2; ++half) {
        tileFree_[half] = flags.Take(*pipe_, E::M_MTE1, at);
        resultFree_[half] = flags.Take(*pipe_, E::FIX_M, at);
    }
    leftPieces_.TakeFlags(*pipe_, at);
    rightPieces_.TakeFlags(*pipe_, at);
}

PITON_API CubeCore::Block CubeCore::BlockOf(uint32_t step) const {
    step /= Parts();
    const uint32_t m = BlocksM(), n = BlocksN(), baseM = tiling_.baseM, baseN = tiling_.baseN;
    const uint32_t i = tiling_.iterateOrder == 1 ? step / n : step % m, j = tiling_.iterateOrder == 1 ? step % n : step / m;
    return {i * baseM, j * baseN, std::min(baseM, m_ - i * baseM), std::min(baseN, n_ - j * baseN), 0};
}

PITON_API bool CubeCore::IsLeftOut(uint32_t step) const {
    const Block block = BlockOf(step);
    const uint32_t row = block.row / tiling_.baseM, column = block.column / tiling_.baseN;
    return (traits.triangle == Triangle::Upper && row > column) || (traits.triangle == Triangle::Lower && row < column);
}

PITON_API bool CubeCore::Iterate(bool isAdded, const vnpu_operand *own, Location at) {
    CheckInputs(at);
    const uint32_t steps = BlocksM() * BlocksN() * Parts();
    while (step_ < steps && IsLeftOut(step_)) {
        ++step_;
    }
    if (step_ >= steps) {
        return false;
    }
    TakeTurn(at);
    left_.orgOuter = orgM_;
    left_.orgK = orgKa_;
    right_.orgOuter = orgN_;
    right_.orgK = orgKb_;
    const uint32_t part = step_ % Parts();
    Block block = BlockOf(step_++);
    if (own == nullptr && !isAdded && waitings_ == ResultBuffers()) {
        FailMatmul("Iterate: the result of an earlier call is still in L0C and would be lost; call GetTensorC after each Iterate", at);
    }
    const bool isNew = !isAdded || (waitings_ == 0 && own == nullptr);
    block.buffer = own != nullptr ? 0 : isNew ? results_++ % ResultBuffers() : waiting_[waitings_ - 1].buffer;
    const vnpu_operand results = own != nullptr ? *own : ResultsAt(block.buffer);
    if (own == nullptr && isNew) {
        pipe_->Cube().Wait(resultFree_[block.buffer], at);
        waiting_[waitings_++] = block;
    }
    const uint32_t first = part * tiling_.baseK, end = config.isPartialOutput ? std::min(k_, first + uint32_t(tiling_.baseK)) : k_;
    for (uint32_t k = first; k < end; k += tiling_.baseK) {
        Multiply(block, k, k == first && !isAdded, results, at);
    }
    return true;
}

PITON_API void CubeCore::GetResult(const ResultPlace &place, Location at) {
    if (waitings_ == 0) {
        FailMatmul("GetTensorC: there is no result of Iterate", at);
    }
    const Block block = waiting_[0];
    waiting_[0] = waiting_[1];
    --waitings_;
    offset_ = {static_cast<int32_t>(block.row * resultN_ + block.column), static_cast<int32_t>(block.row), static_cast<int32_t>(block.column),
               static_cast<int32_t>(block.rows), static_cast<int32_t>(block.columns)};
    if (unitFlag_ == 0) {
        pipe_->Cube().Pass(product_, at);
    }
    SubmitResult(block, place, at);
    if (unitFlag_ == 0) {
        pipe_->Cube().Set(resultFree_[block.buffer], at);
    }
}

PITON_API void CubeCore::IterateAll(const ResultPlace &place, Location at) {
    CheckInputs(at);
    if (config.isPartialOutput) {
        FailMatmul("IterateAll with isPartialOutput: parts of k overwrite each other in C; call Iterate and GetTensorC for each part", at);
    }
    Restart();
    unitFlag_ = config.enUnitFlag && store == nullptr && ResultBuffers() == 1 ? 1 : 0;
    ResultPlace next = place;
    while (Iterate(false, nullptr, at)) {
        GetResult(next, at);
        if (place.isSequential) {
            next.start = After(next.start, uint64_t(ResultExtent(offset_.height, offset_.width, place)) * place.bytes);
        }
    }
    unitFlag_ = 0;
}

PITON_API void CubeCore::End(Location at) {
    if (pipe_ != nullptr && pipe_->Cube().User() == this) {
        pipe_->Cube().GiveBack(*pipe_, at);
    }
    waitings_ = 0;
    Restart();
}

PITON_API vnpu_operand CubeCore::ResultsAt(uint32_t buffer) const {
    vnpu_operand operand{};
    operand.addr = pipe_->Cube().resultsAt + uint64_t(buffer) * ResultBytes();
    operand.limit = ResultBytes();
    operand.space = VNPU_SPACE_L0C;
    operand.dtype = traits.sumDtype;
    return operand;
}

}  // namespace piton

#include "core_batch.h"
#include "core_steps.h"

#endif /* PITON_ASCENDC_MATMUL_CORE_IMPL_H */
