/*
 * The cube core's work for one Matmul object: base blocks of C, one after another, as the instructions that compute them.
 *
 * Problem: a kernel sets matrices and shapes and asks for blocks or for everything; the tiling says how the work is cut and what is kept where.
 * Approach: per base block a loop over k: pieces of both matrices into L1 unless they are there (pieces.h), a tile of each into halves of L0A and L0B that
 * change turns, Mmad into L0C, then Fixpipe. Every dependence is a flag between two pipes, so that loads, products and results overlap as far as buffers allow,
 * and hazards, bytes and time come out of the instructions themselves.
 * Limits: instruction for instruction this is not the vendor's program (docs/ascendc-api.md says where the two differ).
 */
#ifndef PITON_ASCENDC_MATMUL_CORE_H
#define PITON_ASCENDC_MATMUL_CORE_H

#include <cstring>

#include "../atomic.h"
#include "../fixpipe.h"
#include "batch.h"
#include "pieces.h"

namespace piton {

/* Where and how a block of C leaves L0C. */
struct ResultPlace {
    vnpu_operand start{}; /* of the core's part of C, or of the block when `isSequential` */
    CubeFormat format = CubeFormat::ND;
    uint32_t bytes = 4;
    uint8_t flags = 0;
    uint8_t atomic = 0; /* 0 none, 1 add, 2 max, 3 min */
    bool isSequential = false;
    uint32_t pitch = 0;  /* elements from row to row where C as a whole does not say it */
    uint32_t height = 0; /* the same for its rows, in fractals */
};

/* Columns side by side in fractals. */
PITON_API uint32_t ResultStrip(const ResultPlace &place) { return place.bytes == 1 ? 32 : 16; }
/* Elements from row to row of a dense matrix. */
PITON_API uint32_t ResultRow(uint32_t columns, const ResultPlace &place) {
    return place.format == CubeFormat::ND_ALIGN ? CeilTo(columns, kBlockBytes / place.bytes) : columns;
}
/* Elements that a dense matrix takes. */
PITON_API uint32_t ResultExtent(uint32_t rows, uint32_t columns, const ResultPlace &place) {
    return place.format == CubeFormat::NZ ? CeilTo(rows, 16) * CeilTo(columns, ResultStrip(place)) : rows * ResultRow(columns, place);
}

/* Scales that have one number per column (SetQuantVector). */
struct QuantVector {
    vnpu_operand start{};
    bool isSet = false;
};

enum class Triangle : uint8_t { None, Upper, Lower };

/* What is fixed about an object. */
struct CubeTraits {
    uint8_t inputDtype = 0;
    uint8_t sumDtype = 0;
    uint8_t resultDtype = 0;
    uint8_t biasDtype = 0;
    bool isLeftOnChip = false; /* in L1 already (TSCM) */
    bool isRightOnChip = false;
    bool canTransposeLeft = false;
    bool canTransposeRight = false;
    bool hasOwnResults = false;         /* C is in L0C of the kernel's (CO1) */
    Triangle triangle = Triangle::None; /* base blocks on the other side of the diagonal are left out */
    LayoutMode leftLayout = LayoutMode::NONE, rightLayout = LayoutMode::NONE, resultLayout = LayoutMode::NONE;
};

/* The function of a kernel that replaces the loads of one matrix: (L1, matrix, row, column, rows, columns, tilingPtr, dataPtr) in base blocks. */
using LoadCallback = void (*)(const AscendC::LocalTensor<int8_t> &, const __gm__ void *, int, int, int, int, const uint64_t, const uint64_t);
using StoreCallback = void (*)(const __gm__ void *, const AscendC::LocalTensor<int8_t> &, const void *, const uint64_t, const uint64_t);

class CubeCore {
public:
    CubeTraits traits;
    MatmulConfig config;
    LoadCallback loadLeft = nullptr;
    LoadCallback loadRight = nullptr;
    StoreCallback store = nullptr;
    uint64_t userInfo = 0;
    uint64_t selfData = 0;

    /* Check `given`, take L1 and L0C from the pipe. Again with the same or a smaller need: keeps what it has. */
    PITON_API void Init(AscendC::TPipe &pipe, const TCubeTiling &given, Location at);
    /* What the types say about both matrices; before Init. */
    PITON_API void Describe(const Side &left, const Side &right) { left_ = left, right_ = right; }
    PITON_API bool IsReady() const { return pipe_ != nullptr; }
    PITON_API const TCubeTiling &Tiling() const { return tiling_; }
    PITON_API bool HasTiling(const TCubeTiling &other) const { return std::memcmp(&tiling_, &other, sizeof other) == 0; }

    PITON_API void SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb, int32_t kc);
    PITON_API void SetSingleShape(int32_t m, int32_t n, int32_t k);
    PITON_API void SetLeft(const Side &side, Location at);
    PITON_API void SetRight(const Side &side, Location at);
    PITON_API void SetBias(const vnpu_operand &bias) { bias_ = bias, hasBias_ = true; }
    PITON_API void DisableBias() { hasBias_ = false; }
    PITON_API void SetQuantScalar(uint64_t scalar) { quantScalar_ = scalar, quantVector_.isSet = false; }
    PITON_API void SetQuantVector(const QuantVector &scales) { quantVector_ = scales, quantColumn_ = kNoColumn; }
    PITON_API uint32_t SingleM() const { return m_; }
    PITON_API uint32_t SingleN() const { return n_; }
    PITON_API uint32_t BlocksM() const { return Pieces(m_, tiling_.baseM); }
    PITON_API uint32_t BlocksN() const { return Pieces(n_, tiling_.baseN); }
    /* Steps of k that are results of their own: all of them with partial output. */
    PITON_API uint32_t Parts() const { return config.isPartialOutput ? Pieces(k_, tiling_.baseK) : 1; }

    /* The next block of C into L0C; false once all have been. `own`: L0C of the kernel's. */
    PITON_API bool Iterate(bool isAdded, const vnpu_operand *own, Location at);
    /* The oldest block that is still in L0C. */
    PITON_API void GetResult(const ResultPlace &place, Location at);
    PITON_API void IterateAll(const ResultPlace &place, Location at);
    PITON_API void IterateBatch(const Batch &batch, const ResultPlace &place, Location at);
    PITON_API MatrixOffset OffsetOfResult() const { return offset_; }
    /* Elements of C in front of matrix `index` of a batch that goes to `place`. */
    PITON_API uint64_t OffsetInBatch(const ResultPlace &place, uint32_t index) const {
        return (PlaceInBatch(place, index).start.addr - place.start.addr) / place.bytes;
    }
    PITON_API void Plan(const TCubeTiling &tiling) {
        tiling_ = tiling, orgM_ = tiling.M, orgN_ = resultN_ = tiling.N, m_ = tiling.singleCoreM, n_ = tiling.singleCoreN;
    }
    /* Back to the first block, for new matrices. */
    PITON_API void Restart() { step_ = 0; }
    PITON_API void GoTo(uint32_t step) { step_ = step; }
    PITON_API void End(Location at);

private:
    struct Block {
        uint32_t row, column, rows, columns;
        uint32_t buffer; /* of L0C */
    };

    /* Elements of a piece in L1, and how many there are. */
    struct PieceShape {
        uint32_t outers, depth, slots, slotBytes;
    };

    PITON_API void CheckTiling(Location at) const;
    PITON_API void CheckInputs(Location at) const;
    PITON_API uint64_t BiasBytes(uint64_t pieceBytes, Location at);
    PITON_API void PlaceInL1(Location at);
    PITON_API void PlaceResults(Location at);
    PITON_API void TakeTurn(Location at);
    PITON_API Block BlockOf(uint32_t step) const;
    PITON_API bool IsLeftOut(uint32_t step) const;
    PITON_API void CheckBatch(const Batch &batch, Location at) const;
    PITON_API static BatchLayout NormalLayout(const Side &side, uint32_t outers, uint32_t depth);
    PITON_API BatchLayout LeftLayout() const;
    PITON_API BatchLayout RightLayout() const;
    PITON_API BatchLayout ResultLayout() const;
    PITON_API ResultPlace PlaceInBatch(const ResultPlace &place, uint32_t index) const;
    PITON_API uint32_t BiasBytes() const { return traits.biasDtype == VNPU_DT_F16 ? 2 : 4; }
    PITON_API PieceShape ShapeOf(bool isLeft) const;
    PITON_API bool IsLargeLoad() const { return config.doMultiDataLoad || config.doSpecialMDL; }
    PITON_API uint32_t ResultBytes() const { return CeilTo(tiling_.baseM, 16) * CeilTo(tiling_.baseN, right_.OuterStep()) * 4; }
    PITON_API uint32_t ResultBuffers() const { return tiling_.dbL0C == 2 ? 2 : 1; }
    PITON_API vnpu_operand Piece(bool isLeft, const Area &tile, Area &piece, Location at);
    PITON_API void CallLoad(bool isLeft, const vnpu_operand &to, const Area &piece, uint32_t row, uint32_t column) const;
    PITON_API void LoadBias(const Block &block, Location at);
    PITON_API void Multiply(const Block &block, uint32_t k, bool isFirst, const vnpu_operand &results, Location at);
    PITON_API void SubmitProduct(const Block &block, uint32_t k, uint32_t depth, uint32_t mode, const vnpu_operand &results, Location at);
    PITON_API void SubmitResult(const Block &block, const ResultPlace &place, Location at);
    PITON_API void LoadLine(const vnpu_operand &to, const vnpu_operand &from, uint32_t bytes, Location at) const;
    PITON_API vnpu_operand QuantsOf(const Block &block, Location at);
    PITON_API void CallStore(const Block &block, const ResultPlace &place, uint64_t address, Location at) const;
    PITON_API vnpu_operand ResultsAt(uint32_t buffer) const;
    PITON_API uint32_t ResultRows(uint32_t rows) const { return left_.IsVector() ? 16 : CeilTo(rows, 16); }

    AscendC::TPipe *pipe_ = nullptr;
    TCubeTiling tiling_;
    Side left_, right_;
    KeptPieces leftPieces_, rightPieces_;
    uint32_t l1At_ = 0, l1Bytes_ = 0;
    uint32_t biasAt_ = 0;
    uint32_t m_ = 0, n_ = 0, k_ = 0; /* of the core's part */
    uint32_t orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, resultN_ = 0;
    vnpu_operand bias_{};
    bool hasBias_ = false;
    uint64_t quantScalar_ = 0;
    static constexpr uint32_t kNoColumn = UINT32_MAX;
    QuantVector quantVector_;
    uint32_t quantAt_ = 0, quantBytes_ = 0, quantColumn_ = kNoColumn; /* its part in L1, and the column whose scale comes first there */
    uint32_t step_ = 0;                                               /* blocks that have been computed */
    Block waiting_[2] = {};                                           /* the last ones, as long as they are in L0C */
    uint32_t waitings_ = 0;
    uint32_t results_ = 0; /* so far: which buffer of L0C is next */
    MatrixOffset offset_{};
    uint32_t tiles_ = 0; /* products so far: which half of L0A and L0B is next */
    uint32_t halves_ = 1;
    uint32_t unitFlag_ = 0;
    uint32_t loaded_ = 0, tileLoaded_ = 0, tileFree_[2] = {}, product_ = 0, resultFree_[2] = {}, biasFree_ = 0, quantLoaded_ = 0, quantFree_ = 0;
};

}  // namespace piton

#include "core_impl.h"

#endif /* PITON_ASCENDC_MATMUL_CORE_H */
