/*
 * A Matmul object on a vector core of a mixed kernel: it remembers what it was told and asks the cube core (messages.h).
 *
 * Problem: results may be wanted in global memory or in the unified buffer, at once or later; operands may lie in the unified buffer.
 * Approach: a block of C is computed when it is fetched, or all blocks at once into the kernel's workspace for the asynchronous forms. What comes from or goes
 * to the unified buffer passes through this core's part of the system's workspace.
 * Limits: sums over several calls of Iterate (enPartialSum) are refused; operands from the unified buffer are dense; C for the unified buffer has to fit into
 * this core's part of the workspace.
 */
#ifndef PITON_ASCENDC_MATMUL_PROXY_H
#define PITON_ASCENDC_MATMUL_PROXY_H

#include "messages.h"

namespace piton {

class MatmulProxy {
public:
    PITON_API bool IsOn() const { return isOn_; }
    PITON_API void Begin(const TCubeTiling &tiling, bool isPartialOutput) {
        isOn_ = true;
        isPartialOutput_ = isPartialOutput;
        tiling_ = now.tiling = tiling;
        now.orgM = tiling.M;
        now.orgN = tiling.N;
        now.orgKa = tiling.Ka;
        now.orgKb = tiling.Kb;
        now.orgKc = 0;
        SetShape(tiling.singleCoreM, tiling.singleCoreN, tiling.singleCoreK);
    }
    PITON_API void SetShape(int32_t m, int32_t n, int32_t k) {
        now.m = m < 0 ? now.m : m;
        now.n = n < 0 ? now.n : n;
        now.k = k < 0 ? now.k : k;
        Restart();
    }
    PITON_API void Restart() {
        computed_ = 0;
        fetched_ = 0;
        isAhead_ = false;
    }
    PITON_API void SetSide(bool isLeft, Side side, AscendC::TPipe *pipe, Location at) {
        if (side.start.space == VNPU_SPACE_UB) {
            side.start = ToWorkspace(isLeft, side, pipe, at);
        }
        side.isSet = true;
        (isLeft ? now.left : now.right) = side;
        Restart();
    }

    /* All blocks into `place`. */
    PITON_API void Everything(const ResultPlace &place, bool isWaiting, Location at) {
        Ask(Demand::Everything, place, at);
        if (isWaiting) {
            Client(at).Await(at);
        }
    }
    PITON_API bool Iterate(bool isSync, bool isAdded, const ResultPlace &workspace, Location at) {
        if (isAdded) {
            FailMatmul("Iterate(true) of a vector core: sums over several calls are not supported by the virtual NPU; set singleCoreK to all of k", at);
        }
        if (!isSync && !isAhead_) {
            if (workspace.start.space != VNPU_SPACE_GM) {
                FailMatmul("Iterate<false> of a vector core puts its blocks into the memory of SetWorkspace: call SetWorkspace first", at);
            }
            Restart();
            isAhead_ = true;
            computed_ = 1; /* this call's own block */
            workspace_ = workspace.start;
            workspaceUsed_ = 0;
            ResultPlace place = workspace;
            place.isSequential = true;
            Everything(place, false, at);
            return true;
        }
        return computed_ < Blocks() && ++computed_ != 0;
    }
    /* Where the block that was fetched last lies in C. */
    PITON_API MatrixOffset OffsetOfResult() const {
        const Size size = SizeOf(fetched_ == 0 ? 0 : fetched_ - 1);
        const int32_t pitch = now.orgKc > 0 ? now.orgKc : now.orgN, row = static_cast<int32_t>(size.row), column = static_cast<int32_t>(size.column);
        return {row * pitch + column, row, column, static_cast<int32_t>(size.rows), static_cast<int32_t>(size.columns)};
    }
    /* The next block into global memory. */
    PITON_API void Fetch(ResultPlace place, Location at) {
        now.step = fetched_++;
        Ask(Demand::Block, place, at);
        Client(at).Await(at);
    }
    /* Where the next block of an asynchronous Iterate lies, once it is there. */
    PITON_API vnpu_operand NextAhead(const ResultPlace &place, Location at) {
        Client(at).Await(at);
        const vnpu_operand block = After(workspace_, workspaceUsed_);
        const Size size = SizeOf(fetched_++);
        workspaceUsed_ += uint64_t(ResultExtent(size.rows, size.columns, place)) * place.bytes;
        return block;
    }
    /* The next block into the unified buffer: dense, or at its place among singleCoreN columns. */
    PITON_API void FetchLocal(const vnpu_operand &dst, ResultPlace place, AscendC::TPipe *pipe, Location at) {
        RequireOwn("GetTensorC", at);
        const Size size = SizeOf(fetched_);
        vnpu_operand from{};
        if (isAhead_) {
            from = NextAhead(place, at);
        } else {
            const bool isSequential = place.isSequential;
            from = place.start = Room(uint64_t(ResultExtent(size.rows, size.columns, place)) * place.bytes, place.start.dtype, at);
            place.isSequential = true;
            Fetch(place, at);
            place.isSequential = isSequential;
        }
        ToLocal(dst, from, size, place, pipe, at);
    }
    /* The next block into both: global memory first, from there into the unified buffer. */
    PITON_API void FetchBoth(const vnpu_operand &dst, const ResultPlace &place, AscendC::TPipe *pipe, Location at) {
        RequireOwn("GetTensorC", at);
        if (place.atomic != 0 || place.format != CubeFormat::ND) {
            FailMatmul("GetTensorC into global memory and local memory at once is for CubeFormat::ND without an atomic operation here", at);
        }
        const Size size = SizeOf(fetched_);
        Fetch(place, at);
        const uint32_t pitch = place.isSequential ? size.columns : static_cast<uint32_t>(now.orgKc > 0 ? now.orgKc : now.orgN);
        const uint64_t skipped = place.isSequential ? 0 : uint64_t(size.row) * pitch + size.column;
        Shape shape = ShapeOf(size, place);
        shape.gap = (pitch - size.columns) * place.bytes;
        CopyToLocal(dst, After(place.start, skipped * place.bytes), shape, pipe, at);
    }
    /* All blocks into the unified buffer, singleCoreM x singleCoreN. */
    PITON_API void EverythingLocal(const vnpu_operand &dst, ResultPlace place, AscendC::TPipe *pipe, Location at) {
        RequireOwn("IterateAll", at);
        const Size whole{0, 0, static_cast<uint32_t>(now.m), static_cast<uint32_t>(now.n)};
        const vnpu_operand from = Room(uint64_t(ResultExtent(whole.rows, whole.columns, place)) * place.bytes, place.start.dtype, at);
        place.start = from;
        place.pitch = whole.columns;
        place.height = whole.rows;
        Everything(place, true, at);
        place.isSequential = true;
        ToLocal(dst, from, whole, place, pipe, at);
    }
    PITON_API void IterateBatch(const Batch &batch, const ResultPlace &place, bool isWaiting, Location at) {
        now.batch = batch;
        Ask(Demand::Batch, place, at);
        if (isWaiting) {
            Client(at).Await(at);
        }
    }
    /* A batch into the unified buffer, one dense matrix behind the other. */
    PITON_API void IterateBatchLocal(const vnpu_operand &dst, const Batch &batch, ResultPlace place, AscendC::TPipe *pipe, Location at) {
        RequireOwn("IterateBatch", at);
        const Size each{0, 0, static_cast<uint32_t>(now.m), static_cast<uint32_t>(now.n)};
        const uint64_t bytes = uint64_t(ResultExtent(each.rows, each.columns, place)) * place.bytes;
        const vnpu_operand from = Room(bytes * batch.Results(), place.start.dtype, at);
        place.start = from;
        place.isSequential = true;
        IterateBatch(batch, place, true, at);
        for (uint32_t index = 0; index < batch.Results(); ++index) {
            ToLocal(After(dst, index * bytes), After(from, index * bytes), each, place, pipe, at);
        }
    }
    PITON_API void Await(Location at) { Client(at).Await(at); }
    PITON_API static MatmulClient &Client(Location at) { return BoxOfBlock(at).clients[static_cast<uint32_t>(piton::Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at))]; }

    Message now; /* what the next message says */

private:
    struct Size {
        uint32_t row, column, rows, columns;
    };
    /* Of a copy into the unified buffer, in bytes. */
    struct Shape {
        uint32_t count, length, gap, pitch;
    };

    PITON_API uint32_t Blocks() const { return Pieces(now.m, tiling_.baseM) * Pieces(now.n, tiling_.baseN) * Parts(); }
    PITON_API uint32_t Parts() const { return isPartialOutput_ ? Pieces(now.k, tiling_.baseK) : 1; }
    /* Dense at the source; where it goes it is dense, too, or a part of singleCoreM x singleCoreN. */
    PITON_API Shape ShapeOf(const Size &size, const ResultPlace &place) const {
        if (place.format == CubeFormat::NZ) {
            const uint32_t length = CeilTo(size.rows, 16) * ResultStrip(place) * place.bytes;
            return {Pieces(size.columns, ResultStrip(place)), length, 0, place.isSequential ? length : CeilTo(now.m, 16) * ResultStrip(place) * place.bytes};
        }
        const uint32_t length = ResultRow(size.columns, place) * place.bytes;
        return {size.rows, length, 0, place.isSequential ? length : ResultRow(now.n, place) * place.bytes};
    }
    PITON_API void ToLocal(const vnpu_operand &dst, const vnpu_operand &from, const Size &size, const ResultPlace &place, AscendC::TPipe *pipe,
                           Location at) const {
        const Shape shape = ShapeOf(size, place);
        const uint64_t inStrips = (uint64_t(size.column) / ResultStrip(place) * CeilTo(now.m, 16) + size.row) * ResultStrip(place);
        const uint64_t skipped = place.isSequential               ? 0
                                 : place.format == CubeFormat::NZ ? inStrips
                                                                  : uint64_t(size.row) * ResultRow(now.n, place) + size.column;
        CopyToLocal(After(dst, skipped * place.bytes), from, shape, pipe, at);
    }
    PITON_API static void CopyToLocal(const vnpu_operand &to, const vnpu_operand &from, const Shape &shape, AscendC::TPipe *pipe, Location at) {
        if (shape.length % kBlockBytes != 0 || shape.pitch % kBlockBytes != 0) {
            FailMatmul("a block of C for the unified buffer has rows of " + std::to_string(shape.length) + " bytes, " + std::to_string(shape.pitch) +
                           " bytes apart: both have to be multiples of 32 there (CubeFormat::ND_ALIGN fills rows up)",
                       at);
        }
        Order(pipe, AscendC::HardEvent::V_MTE2, at);
        Order(pipe, AscendC::HardEvent::MTE3_MTE2, at);
        Submit(CopyRecord(VNPU_OP_DATA_COPY_PAD, VNPU_PIPE_MTE2, to, from, {shape.count, shape.length, shape.gap, shape.pitch - shape.length}, at));
        Order(pipe, AscendC::HardEvent::MTE2_V, at);
        Order(pipe, AscendC::HardEvent::MTE2_MTE3, at);
    }
    /* This core's part of the workspace for results on their way to the unified buffer. */
    PITON_API static vnpu_operand Room(uint64_t bytes, uint8_t dtype, Location at) {
        if (bytes > kResultBytes) {
            FailMatmul("C for the unified buffer takes " + std::to_string(bytes) + " bytes: at most " + std::to_string(kResultBytes) +
                           " are possible here; take it in smaller parts (Iterate and GetTensorC, or fewer matrices per IterateBatch)",
                       at);
        }
        return MatmulClient::Workspace(0, dtype, at);
    }
    PITON_API void RequireOwn(const char *name, Location at) const {
        if (now.isShared) {
            FailMatmul(std::string(name) + " into local memory with IBSHARE of A and B is not supported by the virtual NPU; write C to global memory", at);
        }
    }
    PITON_API Size SizeOf(uint32_t step) const {
        step /= Parts();
        const uint32_t m = Pieces(now.m, tiling_.baseM), n = Pieces(now.n, tiling_.baseN), baseM = tiling_.baseM, baseN = tiling_.baseN;
        const uint32_t i = tiling_.iterateOrder == 1 ? step / n : step % m, j = tiling_.iterateOrder == 1 ? step % n : step / m;
        return {i * baseM, j * baseN, std::min(baseM, now.m - i * baseM), std::min(baseN, now.n - j * baseN)};
    }
    PITON_API void Ask(Demand demand, const ResultPlace &place, Location at) {
        if (!now.left.isSet || !now.right.isSet) {
            FailMatmul(std::string("Iterate without matrix ") + (now.left.isSet ? "B: call SetTensorB first" : "A: call SetTensorA first"), at);
        }
        now.demand = demand;
        now.place = place;
        now.at = at;
        Client(at).Post(now);
    }
    PITON_API vnpu_operand ToWorkspace(bool isLeft, const Side &side, AscendC::TPipe *pipe, Location at) const {
        const uint64_t elements = uint64_t(isLeft ? now.m : now.n) * now.k, bytes = CeilTo(static_cast<uint32_t>(side.Bytes(elements)), kBlockBytes);
        const uint64_t half = (kWorkspaceOfVector - kResultBytes) / 2, offset = kResultBytes + (isLeft ? 0 : half);
        if (bytes > half) {
            FailMatmul("a matrix in the unified buffer of " + std::to_string(bytes) + " bytes: at most " + std::to_string(half) + " are possible here", at);
        }
        const vnpu_operand to = MatmulClient::Workspace(offset, side.start.dtype, at);
        Order(pipe, AscendC::HardEvent::V_MTE3, at);
        Order(pipe, AscendC::HardEvent::MTE2_MTE3, at);
        Submit(CopyRecord(VNPU_OP_DATA_COPY, VNPU_PIPE_MTE3, to, side.start, {1, static_cast<uint32_t>(bytes), 0, 0}, at));
        return to;
    }
    /* Later work of the second pipe after earlier work of the first. */
    PITON_API static void Order(AscendC::TPipe *pipe, AscendC::HardEvent event, Location at) {
        AscendC::TEventID id = pipe->SetQueueFlag(event, "Matmul", at);
        pipe->WaitQueueFlag(event, id, at);
    }

    bool isOn_ = false;
    bool isAhead_ = false;
    bool isPartialOutput_ = false;
    TCubeTiling tiling_;
    uint32_t computed_ = 0;
    uint32_t fetched_ = 0;
    vnpu_operand workspace_{};
    uint64_t workspaceUsed_ = 0;
};

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_PROXY_H */
