#include "diagnostics.h"

#include <cstdio>

namespace vnpu {

namespace {

struct OpcodeName {
    uint16_t opcode;
    const char *api;
};

constexpr OpcodeName kNames[] = {
    {VNPU_OP_ADD, "Add"},
    {VNPU_OP_SUB, "Sub"},
    {VNPU_OP_MUL, "Mul"},
    {VNPU_OP_DIV, "Div"},
    {VNPU_OP_MAX, "Max"},
    {VNPU_OP_MIN, "Min"},
    {VNPU_OP_AND, "And"},
    {VNPU_OP_OR, "Or"},
    {VNPU_OP_ADD_RELU, "AddRelu"},
    {VNPU_OP_SUB_RELU, "SubRelu"},
    {VNPU_OP_FUSED_MUL_ADD, "FusedMulAdd"},
    {VNPU_OP_MUL_ADD_RELU, "MulAddRelu"},
    {VNPU_OP_MUL_ADD_DST, "MulAddDst"},
    {VNPU_OP_ADD_RELU_CAST, "AddReluCast"},
    {VNPU_OP_SUB_RELU_CAST, "SubReluCast"},
    {VNPU_OP_MUL_CAST, "MulCast"},
    {VNPU_OP_ADD_DEQ_RELU, "AddDeqRelu"},
    {VNPU_OP_CAST_DEQUANT, "CastDequant"},
    {VNPU_OP_ADDS, "Adds"},
    {VNPU_OP_MULS, "Muls"},
    {VNPU_OP_MAXS, "Maxs"},
    {VNPU_OP_MINS, "Mins"},
    {VNPU_OP_LEAKY_RELU, "LeakyRelu"},
    {VNPU_OP_SHIFT_LEFT, "ShiftLeft"},
    {VNPU_OP_SHIFT_RIGHT, "ShiftRight"},
    {VNPU_OP_AXPY, "Axpy"},
    {VNPU_OP_EXP, "Exp"},
    {VNPU_OP_LN, "Ln"},
    {VNPU_OP_SQRT, "Sqrt"},
    {VNPU_OP_RSQRT, "Rsqrt"},
    {VNPU_OP_RECIPROCAL, "Reciprocal"},
    {VNPU_OP_ABS, "Abs"},
    {VNPU_OP_RELU, "Relu"},
    {VNPU_OP_NOT, "Not"},
    {VNPU_OP_CAST, "Cast"},
    {VNPU_OP_COPY, "Copy"},
    {VNPU_OP_DUPLICATE, "Duplicate"},
    {VNPU_OP_COMPARE, "Compare"},
    {VNPU_OP_SELECT, "Select"},
    {VNPU_OP_REDUCE_SUM, "ReduceSum"},
    {VNPU_OP_REDUCE_MAX, "ReduceMax"},
    {VNPU_OP_REDUCE_MIN, "ReduceMin"},
    {VNPU_OP_WHOLE_REDUCE_SUM, "WholeReduceSum"},
    {VNPU_OP_WHOLE_REDUCE_MAX, "WholeReduceMax"},
    {VNPU_OP_WHOLE_REDUCE_MIN, "WholeReduceMin"},
    {VNPU_OP_BLOCK_REDUCE_SUM, "BlockReduceSum"},
    {VNPU_OP_BLOCK_REDUCE_MAX, "BlockReduceMax"},
    {VNPU_OP_BLOCK_REDUCE_MIN, "BlockReduceMin"},
    {VNPU_OP_PAIR_REDUCE_SUM, "PairReduceSum"},
    {VNPU_OP_BRCB, "Brcb"},
    {VNPU_OP_GATHER, "Gather"},
    {VNPU_OP_GATHER_MASK, "GatherMask"},
    {VNPU_OP_GATHER_BLOCKS, "Gatherb"},
    {VNPU_OP_GET_CMP_MASK, "GetCmpMask"},
    {VNPU_OP_SET_CMP_MASK, "SetCmpMask"},
    {VNPU_OP_GET_REDUCE_SUM, "GetReduceRepeatSumSpr"},
    {VNPU_OP_GET_REDUCE_BEST, "GetReduceRepeatMaxMinSpr"},
    {VNPU_OP_SORT32, "Sort32"},
    {VNPU_OP_MRG_SORT, "MrgSort"},
    {VNPU_OP_GET_MRG_RESULT, "GetMrgSortResult"},
    {VNPU_OP_TRANS_5HD, "TransDataTo5HD"},
    {VNPU_OP_SET_ADDRESSES, "TransDataTo5HD"},
    {VNPU_OP_TRANSPOSE, "Transpose"},
    {VNPU_OP_CREATE_VEC_INDEX, "CreateVecIndex"},
    {VNPU_OP_DATA_COPY, "DataCopy"},
    {VNPU_OP_DATA_COPY_PAD, "DataCopyPad"},
    {VNPU_OP_DATA_COPY_ND2NZ, "DataCopy"},
    {VNPU_OP_LOAD_DATA, "LoadData"},
    {VNPU_OP_LOAD_DATA_TRANSPOSE, "LoadDataWithTranspose"},
    {VNPU_OP_LOAD_IMAGE, "LoadData"},
    {VNPU_OP_LOAD_SPARSE, "LoadDataWithSparse"},
    {VNPU_OP_FILL, "Fill"},
    {VNPU_OP_MMAD, "Mmad"},
    {VNPU_OP_FIXPIPE, "Fixpipe"},
    {VNPU_OP_SET_IMAGE, "SetFmatrix"},
    {VNPU_OP_SET_FIXPIPE, "SetFixPipeConfig"},
    {VNPU_OP_TASK_TYPE, "KERNEL_TASK_TYPE_DEFAULT"},
    {VNPU_OP_SCALAR_LOAD, "GetValue"},
    {VNPU_OP_SCALAR_STORE, "SetValue"},
    {VNPU_OP_PAST_CACHE_LOAD, "ReadGmByPassDCache"},
    {VNPU_OP_PAST_CACHE_STORE, "WriteGmByPassDCache"},
    {VNPU_OP_CACHE_CLEAN, "DataCacheCleanAndInvalid"},
    {VNPU_OP_SET_FLAG, "SetFlag"},
    {VNPU_OP_WAIT_FLAG, "WaitFlag"},
    {VNPU_OP_BARRIER, "PipeBarrier"},
    {VNPU_OP_SYNC_ALL, "SyncAll"},
    {VNPU_OP_CROSS_SET, "CrossCoreSetFlag"},
    {VNPU_OP_CROSS_WAIT, "CrossCoreWaitFlag"},
    {VNPU_OP_SET_MASK, "SetVectorMask"},
    {VNPU_OP_SET_MASK_MODE, "SetMaskCount/SetMaskNorm"},
    {VNPU_OP_SET_ATOMIC, "SetAtomicAdd"},
    {VNPU_OP_SET_PAD_VALUE, "SetPadValue"},
    {VNPU_OP_SET_DEQ_SCALE, "SetDeqScale"},
    {VNPU_OP_SET_CTRL, "SetCtrlSpr"},
    {VNPU_OP_GET_CTRL, "GetCtrlSpr"},
    {VNPU_OP_SOFT_SET, "IBSet"},
    {VNPU_OP_SOFT_WAIT, "IBWait"},
    {VNPU_OP_PRINT, "printf"},
    {VNPU_OP_SET_SYS_WORKSPACE, "SetSysWorkspace"},
    {VNPU_OP_GET_SYS_WORKSPACE, "GetSysWorkSpacePtr"},
    {VNPU_OP_BUFFER_INIT, "InitBuffer"},
    {VNPU_OP_BUFFER_ACQUIRE, "AllocTensor"},
    {VNPU_OP_BUFFER_RELEASE, "FreeTensor"},
    {VNPU_OP_PIPE_BEGIN, "TPipe"},
    {VNPU_OP_PIPE_END, "TPipe"},
    {VNPU_OP_GET_BLOCK_IDX, "GetBlockIdx"},
    {VNPU_OP_GET_BLOCK_NUM, "GetBlockNum"},
    {VNPU_OP_GET_SUB_BLOCK_IDX, "GetSubBlockIdx"},
    {VNPU_OP_GET_TASK_RATIO, "GetTaskRatio"},
    {VNPU_OP_GET_SYSTEM_CYCLE, "GetSystemCycle"},
    {VNPU_OP_GET_CAPACITY, "InitBuffer"},
    {VNPU_OP_GET_CORE_KIND, "ASCEND_IS_AIC"},
    {VNPU_OP_GET_PIPE, "GetTPipePtr"},
};

}  // namespace

Place place_of(const vnpu_record &record) {
    Place place;
    place.file = record.file ? reinterpret_cast<const char *>(record.file) : "";
    place.line = record.line;
    place.opcode = record.opcode;
    place.flags = record.flags;
    if (record.opcode == VNPU_OP_FAULT) place.api = reinterpret_cast<const char *>(record.src0.addr);
    return place;
}

std::string api_name(const Place &place) {
    if (place.opcode == VNPU_OP_NONE) return "";
    if (place.opcode == VNPU_OP_FAULT) return place.api ? place.api : "";
    if (place.flags & VNPU_F_QUEUE) {
        if (place.opcode == VNPU_OP_SET_FLAG) return "EnQue/FreeTensor";
        if (place.opcode == VNPU_OP_WAIT_FLAG) return "DeQue/AllocTensor";
    }
    for (const OpcodeName &row : kNames)
        if (row.opcode == place.opcode) return row.api;
    return "opcode " + std::to_string(place.opcode);
}

std::string describe(const Place &place) {
    const std::string name = api_name(place);
    if (!place.line) return name;
    return name + " at " + place.file + ":" + std::to_string(place.line);
}

const char *pipe_name(uint32_t pipe) {
    static constexpr const char *kPipes[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return pipe < sizeof(kPipes) / sizeof(kPipes[0]) ? kPipes[pipe] : "?";
}

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

bool Reporter::has(const Place &place, const std::string &cause_or_kind) {
    const auto known = index_.find(Key{cause_or_kind, place.file, place.line, api_name(place)});
    if (known == index_.end()) return false;
    ++found_[known->second].occurrences;
    return true;
}

void Reporter::add(Diagnostic diagnostic) {
    Key key{diagnostic.is_finding ? diagnostic.kind : diagnostic.cause, diagnostic.file, diagnostic.line, diagnostic.instruction};
    const auto known = index_.find(key);
    if (known != index_.end()) {
        ++found_[known->second].occurrences;
        return;
    }
    if (found_.size() >= limit_) {
        // A violation must never be lost to findings that came first: it takes the place of the last finding.
        if (diagnostic.is_finding) return;
        size_t last = found_.size();
        while (last > 0 && !found_[last - 1].is_finding) --last;
        if (last == 0) return;
        for (auto entry = index_.begin(); entry != index_.end(); ++entry)
            if (entry->second == last - 1) {
                index_.erase(entry);
                break;
            }
        index_.emplace(std::move(key), last - 1);
        found_[last - 1] = std::move(diagnostic);
        return;
    }
    index_.emplace(std::move(key), found_.size());
    found_.push_back(std::move(diagnostic));
}

namespace {

Diagnostic make(const Place &place, int64_t core, const std::string &message, Numbers numbers) {
    Diagnostic made;
    made.message = message;
    made.file = place.file;
    made.line = place.line;
    made.core = core;
    made.instruction = api_name(place);
    made.numbers = std::move(numbers);
    return made;
}

}  // namespace

void Reporter::violation(const Place &place, int64_t core, const std::string &cause, const std::string &message, Numbers numbers, std::vector<uint64_t> code) {
    Diagnostic made = make(place, core, message, std::move(numbers));
    made.cause = cause;
    made.code = std::move(code);
    add(std::move(made));
}

void Reporter::finding(const Place &place, int64_t core, const std::string &kind, const std::string &message, Numbers numbers) {
    Diagnostic made = make(place, core, message, std::move(numbers));
    made.is_finding = true;
    made.kind = kind;
    add(std::move(made));
}

}  // namespace vnpu
