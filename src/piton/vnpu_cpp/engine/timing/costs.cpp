/*
 * What one executed instruction costs: rows (opcode, name, pipe, formula) and the figures that the formulas take from the hardware file.
 *
 * Problem: execution knows addresses, masks and strides of an instruction when it runs it, the replay only sees a compact entry.
 * Approach: the cost is decided here, per record. Vector: fixed + repeats with bank conflicts. Copies: set-up here, bytes in the replay. Scalar: per access.
 * Limits: an opcode without a row costs its issue only; bank conflicts with the DMA pipes are not modelled.
 */
#include <algorithm>

#include "../dtypes.h"
#include "bank_conflict.h"
#include "chip.h"
#include "cube_costs.h"

namespace vnpu {
namespace {

enum class Formula : uint8_t {
    Vector,  // fixed + repeats
    Copy,    // by the spaces of its operands
    Mmad,
    LoadData,
    Fixpipe,
    ScalarLoad,
    ScalarStore,
    PastCache,
    CacheClean,
    Setup,  // TPipe construction
    Issue,  // only the scalar unit's issue
    Free,   // a note: no instruction
};

enum Family : uint8_t {
    kAdd,
    kMul,
    kDiv,
    kLogic,
    kAxpy,
    kExp,
    kLn,
    kSqrt,
    kRsqrt,
    kReciprocal,
    kAbs,
    kRelu,
    kCast,
    kCopy,
    kDuplicate,
    kCompare,
    kSelect,
    kReduce,
    kBlockReduce,
    kGather,
    kSort,
    kMerge,
    kTranspose,
    kFamilies,
};

struct CostRow {
    uint16_t opcode;
    const char *name;
    Formula formula;
    Family family;  // Vector only; its figures and their sources: `vector.<family>.*` in the hardware file
};

constexpr CostRow kRows[] = {
    {VNPU_OP_ADD, "Add", Formula::Vector, kAdd},
    {VNPU_OP_SUB, "Sub", Formula::Vector, kAdd},
    {VNPU_OP_MUL, "Mul", Formula::Vector, kMul},
    {VNPU_OP_DIV, "Div", Formula::Vector, kDiv},
    {VNPU_OP_MAX, "Max", Formula::Vector, kAdd},
    {VNPU_OP_MIN, "Min", Formula::Vector, kAdd},
    {VNPU_OP_AND, "And", Formula::Vector, kLogic},
    {VNPU_OP_OR, "Or", Formula::Vector, kLogic},
    // Of these only RELU, VADD, VMUL and AXPY are in a table: fused ones are assumed to cost what the longer of their parts does.
    {VNPU_OP_ADD_RELU, "AddRelu", Formula::Vector, kAdd},
    {VNPU_OP_SUB_RELU, "SubRelu", Formula::Vector, kAdd},
    {VNPU_OP_FUSED_MUL_ADD, "FusedMulAdd", Formula::Vector, kAxpy},
    {VNPU_OP_MUL_ADD_RELU, "MulAddRelu", Formula::Vector, kAxpy},
    {VNPU_OP_MUL_ADD_DST, "MulAddDst", Formula::Vector, kAxpy},
    {VNPU_OP_ADD_RELU_CAST, "AddReluCast", Formula::Vector, kAdd},
    {VNPU_OP_SUB_RELU_CAST, "SubReluCast", Formula::Vector, kAdd},
    {VNPU_OP_MUL_CAST, "MulCast", Formula::Vector, kMul},
    {VNPU_OP_ADD_DEQ_RELU, "AddDeqRelu", Formula::Vector, kAdd},    // of its three instructions; each is charged
    {VNPU_OP_CAST_DEQUANT, "CastDequant", Formula::Vector, kCast},  // assumed as a Cast; no public figure
    {VNPU_OP_ADDS, "Adds", Formula::Vector, kAdd},
    {VNPU_OP_MULS, "Muls", Formula::Vector, kMul},
    {VNPU_OP_MAXS, "Maxs", Formula::Vector, kAdd},
    {VNPU_OP_MINS, "Mins", Formula::Vector, kAdd},
    {VNPU_OP_LEAKY_RELU, "LeakyRelu", Formula::Vector, kRelu},
    {VNPU_OP_SHIFT_LEFT, "ShiftLeft", Formula::Vector, kLogic},
    {VNPU_OP_SHIFT_RIGHT, "ShiftRight", Formula::Vector, kLogic},
    {VNPU_OP_AXPY, "Axpy", Formula::Vector, kAxpy},
    {VNPU_OP_EXP, "Exp", Formula::Vector, kExp},
    {VNPU_OP_LN, "Ln", Formula::Vector, kLn},
    {VNPU_OP_SQRT, "Sqrt", Formula::Vector, kSqrt},
    {VNPU_OP_RSQRT, "Rsqrt", Formula::Vector, kRsqrt},
    {VNPU_OP_RECIPROCAL, "Reciprocal", Formula::Vector, kReciprocal},
    {VNPU_OP_ABS, "Abs", Formula::Vector, kAbs},
    {VNPU_OP_RELU, "Relu", Formula::Vector, kRelu},
    {VNPU_OP_NOT, "Not", Formula::Vector, kLogic},
    {VNPU_OP_CAST, "Cast", Formula::Vector, kCast},
    {VNPU_OP_COPY, "Copy", Formula::Vector, kCopy},
    {VNPU_OP_DUPLICATE, "Duplicate", Formula::Vector, kDuplicate},
    {VNPU_OP_COMPARE, "Compare", Formula::Vector, kCompare},
    {VNPU_OP_SELECT, "Select", Formula::Vector, kSelect},
    {VNPU_OP_REDUCE_SUM, "ReduceSum", Formula::Vector, kReduce},
    {VNPU_OP_REDUCE_MAX, "ReduceMax", Formula::Vector, kReduce},
    {VNPU_OP_REDUCE_MIN, "ReduceMin", Formula::Vector, kReduce},
    {VNPU_OP_WHOLE_REDUCE_SUM, "WholeReduceSum", Formula::Vector, kReduce},
    {VNPU_OP_WHOLE_REDUCE_MAX, "WholeReduceMax", Formula::Vector, kReduce},
    {VNPU_OP_WHOLE_REDUCE_MIN, "WholeReduceMin", Formula::Vector, kReduce},
    {VNPU_OP_BLOCK_REDUCE_SUM, "BlockReduceSum", Formula::Vector, kBlockReduce},
    {VNPU_OP_BLOCK_REDUCE_MAX, "BlockReduceMax", Formula::Vector, kBlockReduce},
    {VNPU_OP_BLOCK_REDUCE_MIN, "BlockReduceMin", Formula::Vector, kBlockReduce},
    {VNPU_OP_PAIR_REDUCE_SUM, "PairReduceSum", Formula::Vector, kBlockReduce},  // assumed as BlockReduceSum; VCPADD is in no table
    {VNPU_OP_BRCB, "Brcb", Formula::Vector, kCopy},
    {VNPU_OP_GATHER, "Gather", Formula::Vector, kGather},
    {VNPU_OP_GATHER_MASK, "GatherMask", Formula::Vector, kGather},
    {VNPU_OP_GATHER_BLOCKS, "Gatherb", Formula::Vector, kGather},
    {VNPU_OP_GET_CMP_MASK, "GetCmpMask", Formula::Vector, kCopy},  // assumed as a Copy of one repeat; no public figure
    {VNPU_OP_SET_CMP_MASK, "SetCmpMask", Formula::Vector, kCopy},
    {VNPU_OP_SORT32, "Sort32", Formula::Vector, kSort},
    {VNPU_OP_MRG_SORT, "MrgSort", Formula::Vector, kMerge},
    {VNPU_OP_TRANS_5HD, "TransDataTo5HD", Formula::Vector, kTranspose},
    {VNPU_OP_TRANSPOSE, "Transpose", Formula::Vector, kTranspose},
    {VNPU_OP_CREATE_VEC_INDEX, "CreateVecIndex", Formula::Vector, kDuplicate},
    {VNPU_OP_DATA_COPY, "DataCopy", Formula::Copy, kFamilies},
    {VNPU_OP_DATA_COPY_PAD, "DataCopyPad", Formula::Copy, kFamilies},
    {VNPU_OP_DATA_COPY_ND2NZ, "DataCopy", Formula::Copy, kFamilies},
    {VNPU_OP_LOAD_DATA, "LoadData", Formula::LoadData, kFamilies},
    {VNPU_OP_LOAD_IMAGE, "LoadData", Formula::LoadData, kFamilies},
    {VNPU_OP_LOAD_SPARSE, "LoadDataWithSparse", Formula::LoadData, kFamilies},  // assumed: the places come beside the fractals and cost their bytes
    {VNPU_OP_FILL, "Fill", Formula::LoadData, kFamilies},
    {VNPU_OP_LOAD_DATA_TRANSPOSE, "LoadDataWithTranspose", Formula::LoadData, kFamilies},
    {VNPU_OP_MMAD, "Mmad", Formula::Mmad, kFamilies},
    {VNPU_OP_FIXPIPE, "Fixpipe", Formula::Fixpipe, kFamilies},
    {VNPU_OP_SCALAR_LOAD, "GetValue", Formula::ScalarLoad, kFamilies},
    {VNPU_OP_SCALAR_STORE, "SetValue", Formula::ScalarStore, kFamilies},
    {VNPU_OP_PAST_CACHE_LOAD, "ReadGmByPassDCache", Formula::PastCache, kFamilies},
    {VNPU_OP_PAST_CACHE_STORE, "WriteGmByPassDCache", Formula::PastCache, kFamilies},
    {VNPU_OP_CACHE_CLEAN, "DataCacheCleanAndInvalid", Formula::CacheClean, kFamilies},
    {VNPU_OP_BUFFER_INIT, "InitBuffer", Formula::Free, kFamilies},
    {VNPU_OP_BUFFER_ACQUIRE, "AllocTensor", Formula::Free, kFamilies},
    {VNPU_OP_BUFFER_RELEASE, "FreeTensor", Formula::Free, kFamilies},
    {VNPU_OP_PIPE_BEGIN, "TPipe", Formula::Setup, kFamilies},
    {VNPU_OP_PIPE_END, "~TPipe", Formula::Free, kFamilies},
    {VNPU_OP_PRINT, "printf", Formula::Free, kFamilies},  // its cost on the chip is not published; it is not there in a kernel that counts
    {VNPU_OP_SET_SYS_WORKSPACE, "SetSysWorkspace", Formula::Free, kFamilies},
};

constexpr CostRow kDefaultRow = {VNPU_OP_NONE, "", Formula::Issue, kFamilies};

const CostRow &row_of(uint16_t opcode) {
    for (const CostRow &row : kRows)
        if (row.opcode == opcode) return row;
    return kDefaultRow;
}

// A width for every operand: half bytes count as whole ones, an unknown type as 32 bits.
uint32_t bytes_of(uint8_t dtype) {
    if (dtype == VNPU_DT_I4) return 1;
    const uint32_t bytes = dtype_bytes(dtype);
    return bytes == 0 ? 4 : bytes;
}

bool is_vector_operand(const vnpu_operand &operand) { return operand.space == VNPU_SPACE_UB; }

uint32_t widest(const vnpu_record &record) {
    uint32_t width = bytes_of(record.dst.dtype);
    for (const vnpu_operand *source : {&record.src0, &record.src1})
        if (is_vector_operand(*source)) width = std::max(width, bytes_of(source->dtype));
    return width;
}

// Blocks of one operand in bank terms. The narrower side of a Cast takes proportionally fewer blocks per repeat; count forms are dense.
BankOperand bank_operand(const vnpu_record &record, const vnpu_operand &operand, uint32_t width) {
    BankOperand result;
    if (!is_vector_operand(operand)) return result;
    result.addr = operand.addr;
    result.blocks = std::max(1u, 8 * bytes_of(operand.dtype) / width);
    const bool is_dense = (record.flags & VNPU_F_COUNT) != 0;
    result.blk = is_dense ? 1 : operand.blk;
    result.rep = is_dense ? result.blocks : operand.rep;
    return result;
}

void cost_vector(const ChipModel &chip, const vnpu_record &record, const CostRow &row, uint32_t repeats, TraceEntry &entry) {
    const uint32_t width = widest(record);
    const VectorCost &cost = chip.vector_costs[row.family];
    const uint32_t compute = width <= 2 ? cost.b16 : cost.b32;
    const BankOperand dst = bank_operand(record, record.dst, width);
    const BankOperand src0 = bank_operand(record, record.src0, width), src1 = bank_operand(record, record.src1, width);
    const uint64_t cycles = repeat_cycles(dst, src0, src1, repeats, compute, chip.write_distance);
    entry.pipe = VNPU_PIPE_V;
    entry.cycles = chip.vector_fixed + static_cast<uint32_t>(cycles);
    entry.repeats = repeats;
    entry.conflict_cycles = static_cast<uint32_t>(cycles - std::min<uint64_t>(cycles, static_cast<uint64_t>(repeats) * compute));
}

void cost_on_chip_copy(const ChipModel &chip, const vnpu_record &record, TraceEntry &entry) {
    const uint64_t bytes = static_cast<uint64_t>(record.p[0]) * record.p[1];
    if (record.pipe == VNPU_PIPE_V) {  // UB to UB: one repeat per 256 bytes
        entry.cycles = chip.vector_fixed + static_cast<uint32_t>((bytes + 255) / 256) * chip.vector_costs[kCopy].b16;
        return;
    }
    entry.cycles = chip.mte3.setup_cycles + static_cast<uint32_t>(((bytes << kRateBits) + chip.on_chip_rate - 1) / chip.on_chip_rate);
}

void cost_gm_copy(const DmaCost &dma, TraceKind kind, uint64_t gm_addr, uint32_t gm_gap, const vnpu_record &record, TraceEntry &entry) {
    entry.kind = kind;
    entry.cycles = dma.setup_cycles;
    entry.blocks = record.p[0];
    entry.block_bytes = record.p[1];
    entry.gm_gap = gm_gap;
    entry.gm_addr = gm_addr;
    if (record.flags & VNPU_F_L2_BYPASS) entry.flags |= kTraceL2Bypass;
}

// GM bytes from the end of a block to the start of the next; a matrix says from start to start.
uint32_t source_gap(const vnpu_record &record) {
    return record.opcode == VNPU_OP_DATA_COPY_ND2NZ ? std::max(record.p[2], record.p[1]) - record.p[1] : record.p[2];
}

void cost_copy(const ChipModel &chip, const vnpu_record &record, TraceEntry &entry) {
    entry.pipe = record.pipe;
    if (record.p[0] == 0 || record.p[1] == 0) return;  // no block: the instruction does nothing
    if (record.src0.space == VNPU_SPACE_GM) {
        const bool is_l1 = record.dst.space == VNPU_SPACE_L1;
        if (is_l1) entry.flags |= kTraceToL1;
        return cost_gm_copy(is_l1 ? chip.mte2_l1 : chip.mte2, TraceKind::GmRead, record.src0.addr, source_gap(record), record, entry);
    }
    if (record.dst.space == VNPU_SPACE_GM) return cost_gm_copy(chip.mte3, TraceKind::GmWrite, record.dst.addr, record.p[3], record, entry);
    if (record.dst.space == VNPU_SPACE_BT || record.dst.space == VNPU_SPACE_FB)
        return cost_load_data(chip, record, static_cast<uint64_t>(record.p[0]) * record.p[1], entry);
    cost_on_chip_copy(chip, record, entry);
}

// A GM address makes the replay ask the core's data cache; the miss is added there.
void cost_scalar(const ChipModel &chip, const vnpu_operand &operand, uint32_t ub_cycles, TraceEntry &entry) {
    const bool is_gm = operand.space == VNPU_SPACE_GM;
    entry.pipe = VNPU_PIPE_S;
    entry.cycles = is_gm ? chip.cache_hit_cycles : ub_cycles;
    entry.gm_addr = is_gm ? operand.addr : 0;
}

}  // namespace

const std::vector<const char *> &vector_family_names() {
    static const std::vector<const char *> names = {
        "add",  "mul",  "div",       "logic",   "axpy",   "exp",    "ln",           "sqrt",   "rsqrt", "reciprocal", "abs",       "relu",
        "cast", "copy", "duplicate", "compare", "select", "reduce", "block_reduce", "gather", "sort",  "merge",      "transpose",
    };
    static_assert(kFamilies == 23, "one name per family, in the order of the enum");
    return names;
}

TraceEntry cost_of(const ChipModel &chip, const vnpu_record &record, uint32_t repeats, uint64_t elements) {
    const CostRow &row = row_of(record.opcode);
    TraceEntry entry;
    entry.opcode = record.opcode;
    entry.line = record.line;
    entry.pipe = VNPU_PIPE_S;
    entry.issue_cycles = chip.issue_cycles;
    switch (row.formula) {
        case Formula::Vector:
            entry.pipe = VNPU_PIPE_V;
            if (elements != 0) cost_vector(chip, record, row, repeats, entry);  // no active element: nothing happens but the issue
            break;
        case Formula::Copy:
            cost_copy(chip, record, entry);
            break;
        case Formula::Mmad:
            cost_mmad(chip, record, repeats, entry);
            break;
        case Formula::LoadData:
            cost_load_data(chip, record, elements, entry);
            break;
        case Formula::Fixpipe:
            cost_fixpipe(chip, record, repeats, elements, entry);
            break;
        case Formula::ScalarLoad:
            cost_scalar(chip, record.src0, chip.ub_load_cycles, entry);
            break;
        case Formula::ScalarStore:
            cost_scalar(chip, record.dst, chip.ub_store_cycles, entry);
            break;
        case Formula::PastCache:  // every time what a cached access costs that misses: no public figure of its own
            entry.cycles = chip.cache_hit_cycles + chip.cache_miss_cycles;
            break;
        case Formula::CacheClean:  // one round trip to memory when a line is written (`repeats` of them): assumed equal to a miss, no public figure
            entry.cycles = chip.cache_hit_cycles + (repeats ? chip.cache_miss_cycles : 0);
            break;
        case Formula::Setup:
            entry.cycles = chip.tpipe_setup;
            break;
        case Formula::Issue:
            entry.cycles = 1;
            break;
        case Formula::Free:
            break;
    }
    if (entry.pipe == VNPU_PIPE_S) entry.issue_cycles = 0;  // S executes it itself: `cycles` is all
    return entry;
}

}  // namespace vnpu
