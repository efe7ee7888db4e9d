/*
 * How vector cores of a mixed kernel ask the cube core of their block for matrix products.
 *
 * Problem: on the chip a Matmul object of a vector core sends messages through global memory, and the cube core serves them until its vector cores have ended.
 * Approach: the same roles. A message is announced by a counter in the system's workspace that the cube core waits for, and answered by a flag of the vector
 * core's; both are waits on global memory with their copies, barriers and latencies. What the message says travels in the memory of the process.
 * Limits: the vendor's messages are 64-byte lines written by the scalar unit: their few stores are not charged. A vector core's part of the workspace holds one
 * base block of C and its operands from the unified buffer.
 */
#ifndef PITON_ASCENDC_MATMUL_MESSAGES_H
#define PITON_ASCENDC_MATMUL_MESSAGES_H

#include <vector>

#include "../cross_core.h"
#include "../workspace.h"
#include "core.h"

namespace piton {

constexpr uint32_t kMostBlocks = 512; /* of a launch: those that run one after another do not share flags either */
constexpr uint32_t kVectorsOfBlock = 2;
constexpr uint64_t kWorkspaceOfVector = 320 * 1024;
constexpr uint64_t kResultBytes = 128 * 1024; /* of it, for a base block of C */

enum class Demand : uint8_t { Block, Everything, Batch, Ended };

/* All that the cube core needs to know. */
struct Message {
    Demand demand = Demand::Ended;
    uint32_t object = 0;
    TCubeTiling tiling; /* the vector core may have another one since it registered its objects */
    Side left, right;
    vnpu_operand bias{};
    bool hasBias = false;
    uint64_t quantScalar = 0, userInfo = 0, selfData = 0;
    int32_t m = 0, n = 0, k = 0;
    int32_t orgM = 0, orgN = 0, orgKa = 0, orgKb = 0, orgKc = 0;
    uint32_t step = 0;
    QuantVector quantVector;
    Batch batch;
    ResultPlace place;
    bool isShared = false; /* A and B are the same for both vector cores: the first one asks for both */
    Location at;
};

/* The vector core's end. */
class MatmulClient {
public:
    PITON_API void Post(const Message &message);
    /* Until everything that was asked for is done. */
    PITON_API void Await(Location at);
    /* This core's part of the workspace, from `offset` on. */
    PITON_API static vnpu_operand Workspace(uint64_t offset, uint8_t dtype, Location at);

private:
    uint32_t posted_ = 0;
    uint32_t awaited_ = 0;
};

/* Messages of one vector core in their order. Of the standard library device code may only use what needs no function of the machine's. */
class Letters {
public:
    PITON_API void Push(const Message &message) { letters_.push_back(message); }
    PITON_API bool IsEmpty() const { return taken_ == letters_.size(); }
    PITON_API Message Take() {
        const Message message = letters_[taken_++];
        if (IsEmpty()) {
            Clear();
        }
        return message;
    }
    PITON_API void Clear() {
        letters_.clear();
        taken_ = 0;
    }

private:
    std::vector<Message> letters_;
    std::size_t taken_ = 0;
};

/* Messages of one block, by vector core. They belong to one launch. */
struct Box {
    uint64_t serial = 0;
    Letters posted[kVectorsOfBlock];
    MatmulClient clients[kVectorsOfBlock];

    PITON_API void BelongTo(uint64_t launch) {
        if (serial != launch) {
            serial = launch;
            for (uint32_t sub = 0; sub < kVectorsOfBlock; ++sub) {
                posted[sub].Clear();
                clients[sub] = MatmulClient();
            }
        }
    }
};

inline Box matmul_boxes[kMostBlocks];

PITON_API uint32_t AskLaunch(uint32_t what, Location at) { return static_cast<uint32_t>(Fetch(MakeNote(VNPU_OP_GET_CORE_KIND, at, what))); }

PITON_API bool IsMixedLaunch(Location at) { return AskLaunch(1, at) >= VNPU_CORE_MIX_1_1; }

PITON_API uint64_t BlockOfCore(Location at) {
    const uint64_t number = static_cast<uint64_t>(Ask(VNPU_OP_GET_BLOCK_IDX, at));
    return IsVectorCore(at) ? number / static_cast<uint64_t>(Ask(VNPU_OP_GET_TASK_RATIO, at)) : number;
}

PITON_API Box &BoxOfBlock(Location at) {
    Box &box = matmul_boxes[BlockOfCore(at)];
    box.BelongTo(AskLaunch(2, at));
    return box;
}

constexpr uint64_t kMatmulFlags = kSystemWorkspaceBytes - kMostBlocks * 4 * kBlockBytes; /* where flags begin, to the end of the workspace */
constexpr uint64_t kVectorsInWorkspace = kMatmulFlags / kWorkspaceOfVector;              /* vector cores that have a part of it */

PITON_API void RequireMatmulFlags(Location at) {
    const uint64_t blocks = static_cast<uint64_t>(Ask(VNPU_OP_GET_BLOCK_NUM, at));
    if (blocks > kMostBlocks) {
        FailMatmul("a mixed launch of " + std::to_string(blocks) + " blocks: at most " + std::to_string(kMostBlocks) +
                       " are possible here; launch as many as the chip has cube cores",
                   at);
    }
}

/* Per block the counter of messages and one answer per vector core. */
PITON_API vnpu_operand MatmulFlag(uint64_t block, uint32_t which, Location at) {
    vnpu_operand flag{};
    flag.addr = Fetch(MakeNote(VNPU_OP_GET_SYS_WORKSPACE, at)) + kMatmulFlags + (block * 4 + which) * kBlockBytes;
    flag.limit = kUnbounded;
    flag.space = VNPU_SPACE_GM;
    flag.dtype = VNPU_DT_I32;
    return flag;
}

PITON_API void SubmitMatmulFlag(uint16_t opcode, const vnpu_operand &flag, uint32_t how, uint32_t value, Location at) {
    vnpu_record record = MakeNote(opcode, at, how, 1);
    record.pipe = opcode == VNPU_OP_SOFT_SET ? VNPU_PIPE_MTE3 : VNPU_PIPE_MTE2;
    (opcode == VNPU_OP_SOFT_SET ? record.dst : record.src0) = flag;
    record.scalar = value;
    if (opcode == VNPU_OP_SOFT_SET) {
        Fetch(record);
    } else {
        Submit(record);
    }
}

constexpr uint32_t kCountFresh = 3, kFresh = 2; /* see abi.h: added to, set, waited for without what memory held before the launch */

PITON_API void MatmulClient::Post(const Message &message) {
    const Location at = message.at;
    const uint32_t sub = static_cast<uint32_t>(Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at));
    ++posted_;
    if (message.isShared && sub != 0) {
        return;
    }
    BoxOfBlock(at).posted[sub].Push(message);
    SubmitMatmulFlag(VNPU_OP_SOFT_SET, MatmulFlag(BlockOfCore(at), 0, at), kCountFresh, 1, at);
}

PITON_API void MatmulClient::Await(Location at) {
    if (awaited_ != posted_) {
        const uint32_t sub = static_cast<uint32_t>(Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at));
        SubmitMatmulFlag(VNPU_OP_SOFT_WAIT, MatmulFlag(BlockOfCore(at), 1 + sub, at), kFresh, posted_, at);
        awaited_ = posted_;
    }
}

PITON_API vnpu_operand MatmulClient::Workspace(uint64_t offset, uint8_t dtype, Location at) {
    const uint64_t vector = static_cast<uint64_t>(Ask(VNPU_OP_GET_BLOCK_IDX, at));
    if (vector >= kVectorsInWorkspace) {
        FailMatmul("a matrix in the unified buffer on vector core " + std::to_string(vector) + ": the system's workspace has room for " +
                       std::to_string(kVectorsInWorkspace) + " vector cores; launch as many blocks as the chip has cube cores",
                   at);
    }
    vnpu_operand operand{};
    operand.addr = Fetch(MakeNote(VNPU_OP_GET_SYS_WORKSPACE, at)) + vector * kWorkspaceOfVector + offset;
    operand.limit = kUnbounded;
    operand.space = VNPU_SPACE_GM;
    operand.dtype = dtype;
    return operand;
}

/* A vector core will ask for nothing more. */
PITON_API void EndMatmul(Location at) {
    Message message;
    message.at = at;
    BoxOfBlock(at).clients[static_cast<uint32_t>(Ask(VNPU_OP_GET_SUB_BLOCK_IDX, at))].Post(message);
}

/* What one message asks of `core`. */
PITON_API void Serve(CubeCore &core, const Message &message) {
    if (!core.IsReady() || !core.HasTiling(message.tiling)) {
        core.Init(*AscendC::GetTPipePtr(message.at), message.tiling, message.at);
    }
    core.SetOrgShape(message.orgM, message.orgN, message.orgKa, message.orgKb, message.orgKc);
    core.SetSingleShape(message.m, message.n, message.k);
    core.SetLeft(message.left, message.at);
    core.SetRight(message.right, message.at);
    message.hasBias ? core.SetBias(message.bias) : core.DisableBias();
    core.SetQuantScalar(message.quantScalar);
    core.SetQuantVector(message.quantVector);
    core.userInfo = message.userInfo;
    core.selfData = message.selfData;
    if (message.demand == Demand::Everything) {
        core.IterateAll(message.place, message.at);
    } else if (message.demand == Demand::Batch) {
        core.IterateBatch(message.batch, message.place, message.at);
    } else {
        core.GoTo(message.step);
        core.Iterate(false, nullptr, message.at);
        core.GetResult(message.place, message.at);
    }
}

/* The cube core's end: serve until every vector core of the block has ended. `cores` are its objects. */
PITON_API void ServeMatmul(CubeCore *const *cores, Location at) {
    Box &box = BoxOfBlock(at);
    const uint64_t block = BlockOfCore(at);
    const uint32_t vectors = AskLaunch(1, at) == VNPU_CORE_MIX_1_2 ? 2 : 1;
    uint32_t served[kVectorsOfBlock] = {}, ended = 0;
    for (uint32_t count = 1; ended < vectors; ++count) {
        SubmitMatmulFlag(VNPU_OP_SOFT_WAIT, MatmulFlag(block, 0, at), kFresh, count, at);
        const uint32_t sub = box.posted[0].IsEmpty() ? 1 : 0;
        const Message message = box.posted[sub].Take();
        if (message.demand == Demand::Ended) {
            ++ended;
            continue;
        }
        Serve(*cores[message.object], message);
        for (uint32_t answered = sub; answered < (message.isShared ? vectors : sub + 1); ++answered) {
            SubmitMatmulFlag(VNPU_OP_SOFT_SET, MatmulFlag(block, 1 + answered, at), kFresh, ++served[answered], at);
        }
    }
}

}  // namespace piton

#endif /* PITON_ASCENDC_MATMUL_MESSAGES_H */
