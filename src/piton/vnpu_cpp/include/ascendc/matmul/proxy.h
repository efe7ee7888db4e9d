/*
 * A Matmul object on a vector core of a mixed kernel: it remembers what it was told and asks the cube core (messages.h).
 *
 * Problem: results may be wanted in global memory or in the unified buffer, at once or later; operands may lie in the unified buffer.
 * Approach: a block of C is computed when it is fetched, or all blocks at once into the kernel's workspace for the asynchronous forms. What comes from or goes
 * to the unified buffer passes through this core's part of the system's workspace.
 * Limits: sums over several calls of Iterate (enPartialSum) and IterateAll into the unified buffer are refused; operands from the unified buffer are dense.
 */
#ifndef PITON_ASCENDC_MATMUL_PROXY_H
#define PITON_ASCENDC_MATMUL_PROXY_H

#include "messages.h"

namespace piton {

class MatmulProxy {
public:
    PITON_API bool IsOn() const { return isOn_; }
    PITON_API void Begin(uint32_t object, const TCubeTiling &tiling) {
        isOn_ = true;
        tiling_ = tiling;
        now.object = object;
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
            Restart();
            isAhead_ = true;
            workspace_ = workspace.start;
            workspaceUsed_ = 0;
            ResultPlace place = workspace;
            place.isSequential = true;
            Everything(place, false, at);
            return true;
        }
        return computed_ < Blocks() && ++computed_ != 0;
    }
    /* The next block into global memory. */
    PITON_API void Fetch(ResultPlace place, Location at) {
        now.step = fetched_++;
        Ask(Demand::Block, place, at);
        Client(at).Await(at);
    }
    /* Where the next block of an asynchronous Iterate lies, once it is there. */
    PITON_API vnpu_operand NextAhead(uint32_t bytes, Location at) {
        Client(at).Await(at);
        const vnpu_operand block = After(workspace_, workspaceUsed_);
        const Size size = SizeOf(fetched_++);
        workspaceUsed_ += uint64_t(size.rows) * size.columns * bytes;
        return block;
    }
    /* The next block into the unified buffer: dense, or at its place among singleCoreN columns. */
    PITON_API void FetchLocal(const vnpu_operand &dst, ResultPlace place, AscendC::TPipe *pipe, Location at) {
        const Size size = SizeOf(fetched_);
        vnpu_operand from{};
        if (isAhead_) {
            from = NextAhead(place.bytes, at);
        } else {
            const bool isSequential = place.isSequential;
            from = MatmulClient::Workspace(0, place.start.dtype, at);
            place.start = from;
            place.isSequential = true;
            Fetch(place, at);
            place.isSequential = isSequential;
        }
        const uint32_t width = size.columns * place.bytes, pitch = place.isSequential ? width : static_cast<uint32_t>(now.n) * place.bytes;
        const vnpu_operand to = place.isSequential ? dst : After(dst, (uint64_t(size.row) * now.n + size.column) * place.bytes);
        if (width % kBlockBytes != 0 || pitch % kBlockBytes != 0) {
            FailMatmul("a block of C for the unified buffer has rows of " + std::to_string(width) + " bytes, " + std::to_string(pitch) +
                           " bytes apart: both have to be multiples of 32 there",
                       at);
        }
        Order(pipe, AscendC::HardEvent::V_MTE2, at);
        Order(pipe, AscendC::HardEvent::MTE3_MTE2, at);
        vnpu_record record = CopyRecord(VNPU_OP_DATA_COPY_PAD, VNPU_PIPE_MTE2, to, from, {size.rows, width, 0, pitch - width}, at);
        Submit(record);
        Order(pipe, AscendC::HardEvent::MTE2_V, at);
        Order(pipe, AscendC::HardEvent::MTE2_MTE3, at);
    }
    PITON_API void Await(Location at) { Client(at).Await(at); }
    PITON_API static MatmulClient &Client(Location at) { return BoxOfBlock(at).clients[static_cast<uint32_t>(piton::Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at))]; }

    Message now; /* what the next message says */

private:
    struct Size {
        uint32_t row, column, rows, columns;
    };

    PITON_API uint32_t Blocks() const { return Pieces(now.m, tiling_.baseM) * Pieces(now.n, tiling_.baseN); }
    PITON_API Size SizeOf(uint32_t step) const {
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
        const uint64_t elements = uint64_t(isLeft ? now.m : now.n) * now.k, bytes = CeilTo(static_cast<uint32_t>(elements * side.bytes), kBlockBytes);
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
    TCubeTiling tiling_;
    uint32_t computed_ = 0;
    uint32_t fetched_ = 0;
    vnpu_operand workspace_{};
    uint64_t workspaceUsed_ = 0;
};

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_PROXY_H */
