/*
 * The seam between Ascend C headers and the engine of the virtual NPU.
 *
 * Problem: a kernel's API calls have to reach an engine that may sit in the same process (fast) or in a process of its own (strangers' code) without the
 * headers or the kernel knowing which.
 * Approach: each API call becomes one 128-byte record. Fire-and-forget records go through vnpu_submit; the few calls that need an answer go through
 * vnpu_fetch. Addresses in a record are on-chip byte offsets or device (GM) addresses, never host pointers, so that a record can cross a process boundary.
 * Limits: program order per core is the only order; `file` is a pointer to a string that lives as long as the kernel library and is only printed.
 *
 * Plain C so that the other side can be anything. Documented for people in docs/vnpu-abi.md; change both together and raise VNPU_ABI_VERSION.
 */
#ifndef PITON_VNPU_ABI_H
#define PITON_VNPU_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VNPU_ABI_VERSION 10u

/* Execution pipes of an AI core (hardware names). */
enum vnpu_pipe {
    VNPU_PIPE_S = 0,
    VNPU_PIPE_V = 1,
    VNPU_PIPE_M = 2,
    VNPU_PIPE_MTE1 = 3,
    VNPU_PIPE_MTE2 = 4,
    VNPU_PIPE_MTE3 = 5,
    VNPU_PIPE_FIX = 6,
    VNPU_PIPE_COUNT = 7,
    VNPU_PIPE_ALL = 7
};

/* Memory spaces. UB, L1 ... addresses are byte offsets from 0; GM addresses are device addresses. */
enum vnpu_space {
    VNPU_SPACE_NONE = 0,
    VNPU_SPACE_GM = 1,
    VNPU_SPACE_UB = 2,
    VNPU_SPACE_L1 = 3,
    VNPU_SPACE_L0A = 4,
    VNPU_SPACE_L0B = 5,
    VNPU_SPACE_L0C = 6,
    VNPU_SPACE_BT = 7,
    VNPU_SPACE_FB = 8,
    VNPU_SPACE_COUNT = 9
};

enum vnpu_dtype {
    VNPU_DT_NONE = 0,
    VNPU_DT_F16 = 1,
    VNPU_DT_BF16 = 2,
    VNPU_DT_F32 = 3,
    VNPU_DT_I8 = 4,
    VNPU_DT_U8 = 5,
    VNPU_DT_I16 = 6,
    VNPU_DT_U16 = 7,
    VNPU_DT_I32 = 8,
    VNPU_DT_U32 = 9,
    VNPU_DT_I64 = 10,
    VNPU_DT_U64 = 11,
    VNPU_DT_F64 = 12,
    VNPU_DT_I4 = 13,
    VNPU_DT_BOOL = 14
};

/*
 * Opcodes. "v.s" means that `scalar` holds the second operand's bits in the operands' dtype.
 * Vector family: dst, src0, src1; the element count or mask/repeat/stride form is told by flags (below).
 */
enum vnpu_opcode {
    VNPU_OP_NONE = 0,
    /* binary vector: dst = src0 op src1 */
    VNPU_OP_ADD = 1,
    VNPU_OP_SUB = 2,
    VNPU_OP_MUL = 3,
    VNPU_OP_DIV = 4,
    VNPU_OP_MAX = 5,
    VNPU_OP_MIN = 6,
    VNPU_OP_AND = 7,
    VNPU_OP_OR = 8,
    VNPU_OP_ADD_RELU = 9,
    VNPU_OP_SUB_RELU = 10,
    VNPU_OP_FUSED_MUL_ADD = 11, /* dst = src0 * dst + src1 */
    VNPU_OP_MUL_ADD_RELU = 12,  /* the same, negative results 0 */
    VNPU_OP_MUL_ADD_DST = 13,   /* dst += src0 * src1 */
    VNPU_OP_ADD_RELU_CAST = 14,
    VNPU_OP_SUB_RELU_CAST = 15,
    VNPU_OP_MUL_CAST = 16,
    VNPU_OP_ADD_DEQ_RELU = 17, /* dst = max(0, half((src0 + src1) * scale)) */
    VNPU_OP_CAST_DEQUANT = 18, /* int16 to bytes by the quantisation register; p[3] = 1: by the 16 words it points to, + 2: the upper half of each block */
    /* vector-scalar: dst = src0 op scalar */
    VNPU_OP_ADDS = 32,
    VNPU_OP_MULS = 33,
    VNPU_OP_MAXS = 34,
    VNPU_OP_MINS = 35,
    VNPU_OP_LEAKY_RELU = 36,
    VNPU_OP_SHIFT_LEFT = 37,
    VNPU_OP_SHIFT_RIGHT = 38,
    VNPU_OP_AXPY = 39, /* dst += src0 * scalar */
    /* unary vector */
    VNPU_OP_EXP = 64,
    VNPU_OP_LN = 65,
    VNPU_OP_SQRT = 66,
    VNPU_OP_RSQRT = 67,
    VNPU_OP_RECIPROCAL = 68,
    VNPU_OP_ABS = 69,
    VNPU_OP_RELU = 70,
    VNPU_OP_NOT = 71,
    VNPU_OP_CAST = 72,      /* p[3] = round mode (AscendC::RoundMode value) */
    VNPU_OP_COPY = 73,      /* UB to UB on V */
    VNPU_OP_DUPLICATE = 74, /* dst = scalar */
    /* compare and select */
    VNPU_OP_COMPARE = 96, /* p[3] = CMPMODE */
    VNPU_OP_SELECT = 97,  /* p[3] = SELMODE, + VNPU_SELECT_REGISTER where the compare register holds what the mode selects by */
    /* reductions and rearrangement */
    VNPU_OP_REDUCE_SUM = 128,
    VNPU_OP_REDUCE_MAX = 129,
    VNPU_OP_REDUCE_MIN = 130,
    VNPU_OP_WHOLE_REDUCE_SUM = 131,
    VNPU_OP_WHOLE_REDUCE_MAX = 132,
    VNPU_OP_WHOLE_REDUCE_MIN = 133,
    VNPU_OP_BLOCK_REDUCE_SUM = 134,
    VNPU_OP_BLOCK_REDUCE_MAX = 135,
    VNPU_OP_BLOCK_REDUCE_MIN = 136,
    VNPU_OP_BRCB = 137,
    VNPU_OP_GATHER = 138,
    VNPU_OP_CREATE_VEC_INDEX = 139,
    VNPU_OP_PAIR_REDUCE_SUM = 140,
    VNPU_OP_GATHER_MASK = 141, /* fetch: the number of chosen elements */
    VNPU_OP_GATHER_BLOCKS = 142,
    VNPU_OP_GET_CMP_MASK = 143, /* dst = the compare register, 16 bytes */
    VNPU_OP_SET_CMP_MASK = 144, /* the compare register = src0 */
    VNPU_OP_SORT32 = 145,       /* p[0] = repeats of 32 elements of src0 with their indices in src1 */
    VNPU_OP_MRG_SORT = 146,     /* up to four sorted lists into one; see docs/vnpu-abi.md */
    VNPU_OP_TRANS_5HD = 147,    /* between the address registers; p[0] = repeats, p[1] = source and p[2] = destination repeat stride, p[3] = halves */
    VNPU_OP_TRANSPOSE = 148,    /* 16 x 16 elements of 2 bytes */
    /* cube: dst (L0C) = src0 (L0A, m x k) * src1 (L0B, k x n) + what p[3] says */
    VNPU_OP_MMAD =
        160, /* p[0] = m, p[1] = n, p[2] = k; p[3] = VNPU_MMAD_* | unit flag; with a bias mask[0] = its byte in the bias table, mask[1] = its limit */
    /* copies: p[0] = block count, p[1] = bytes per block, p[2] = source gap in bytes, p[3] = destination gap in bytes (end of block to start of next) */
    VNPU_OP_DATA_COPY = 192,       /* 32 B granular */
    VNPU_OP_DATA_COPY_PAD = 193,   /* byte granular; `scalar` = padding value bits, mask[0] = left | right << 8 | is_pad << 16 (element counts) */
    VNPU_OP_DATA_COPY_ND2NZ = 194, /* GM to L1: p[0] = rows, p[1] = bytes per row, p[2] = bytes from row to row, p[3] = matrices; mask[0] = bytes on chip
                                      between the 32-byte columns | between the rows << 32; mask[1] = between the matrices in GM | on chip << 32 */
    /* by fractals of 512 bytes: p[0] = repeats, p[1] = source and p[2] = destination bytes from repeat to repeat, p[3] = 0, or with transposition the bytes
       from fractal to fractal of a repeat at the destination */
    VNPU_OP_LOAD_DATA = 195,           /* L1 to L0A or L0B */
    VNPU_OP_LOAD_DATA_TRANSPOSE = 196, /* the same under its other name */
    /* L0C to GM or L1: p[0] = m, p[1] = n, p[2] = bytes in L0C from 16 columns to the next 16, p[3] = bytes in GM from row to row or, without VNPU_FIX_ROWS,
       from columns to columns; mask[0] = matrices | bytes between them in L0C << 32; mask[1] = bytes between them in GM | (VNPU_FIX_* | unit flag) << 32;
       scalar = parameters of the quantisation */
    VNPU_OP_FIXPIPE = 197,
    /* LoadData as convolution, L1 to L0A or L0B: p[0] = mExtension | kExtension << 16, p[1] = mStartPt | kStartPt << 16, p[2] = strideW | strideH << 8 |
       dilationFilterW << 16 | dilationFilterH << 24, p[3] = VNPU_IMAGE_* flags; mask[0] = shape (see VNPU_OP_SET_IMAGE), mask[1] = filterW | filterH << 16 |
       channelSize << 32; scalar = padding value's bits */
    VNPU_OP_LOAD_IMAGE = 208,
    VNPU_OP_FILL = 209,        /* L1 (on MTE2), L0A or L0B (on MTE1) = scalar: p[0] = repeats, p[1] = bytes of one, p[3] = gap after it */
    VNPU_OP_LOAD_SPARSE = 210, /* as VNPU_OP_LOAD_DATA into L0B without gaps, with the chosen places of each fractal: 128 bytes of src1 per repeat */
    /* scalar unit */
    VNPU_OP_SCALAR_LOAD = 224,      /* fetch: value at src0, p[0] = bytes; p[1] = 1: of any on-chip memory, for debugging */
    VNPU_OP_SCALAR_STORE = 225,     /* dst = scalar, p[0] = bytes */
    VNPU_OP_PAST_CACHE_LOAD = 227,  /* of global memory, past the data cache; otherwise as VNPU_OP_SCALAR_LOAD */
    VNPU_OP_PAST_CACHE_STORE = 228, /* as VNPU_OP_SCALAR_STORE */
    VNPU_OP_CACHE_CLEAN = 226,      /* DataCacheCleanAndInvalid on src0; p[0] = line mode, p[1] = destination */
    /* synchronisation: p[0] = source pipe, p[1] = destination pipe, p[2] = event id */
    VNPU_OP_SET_FLAG = 256,
    VNPU_OP_WAIT_FLAG = 257,
    VNPU_OP_BARRIER = 258,    /* p[0] = pipe (VNPU_PIPE_ALL for all) */
    VNPU_OP_SYNC_ALL = 259,   /* p[0] = 0 the cores of this core's kind, 1 all */
    VNPU_OP_CROSS_SET = 260,  /* p[0] = mode, p[1] = pipe, p[2] = id */
    VNPU_OP_CROSS_WAIT = 261, /* p[2] = id */
    VNPU_OP_SOFT_SET = 262,   /* IBSet and its kind: dst = the flag's 32 bytes of global memory, scalar = the value it gets */
    VNPU_OP_SOFT_WAIT = 263,  /* p[1] of both = 1: among the cores of a block; until src0, 32 bytes of global memory, holds `scalar` */
    /* state registers, ordered by hardware with other instructions */
    VNPU_OP_SET_MASK = 288,      /* mask[0..1] */
    VNPU_OP_SET_MASK_MODE = 289, /* p[0] = 0 normal, 1 counter */
    VNPU_OP_SET_ATOMIC = 290,    /* p[0] = 0 none, 1 add, 2 max, 3 min, 4 dtype alone; dst.dtype */
    VNPU_OP_SET_PAD_VALUE = 291, /* scalar */
    VNPU_OP_SET_DEQ_SCALE = 292, /* scalar: all 64 bits, see docs/vnpu-abi.md */
    VNPU_OP_SET_CTRL = 293,      /* scalar: all 64 bits */
    VNPU_OP_SET_ADDRESSES = 294, /* p[3] = 0 source, 1 destination: 16 UB addresses in blocks of 32 bytes, 16 bits each, in mask, scalar, p[1], p[2] */
    /* registers of VNPU_OP_LOAD_IMAGE: p[0] = enum vnpu_image_register; a shape is height | width << 16 | padding left << 32, right << 40, top << 48,
       bottom << 56 */
    VNPU_OP_SET_IMAGE = 304,
    VNPU_OP_SET_FIXPIPE = 305, /* registers of VNPU_OP_FIXPIPE with VNPU_FIX_REGISTERS: p[0] = enum vnpu_fix_register */
    /* notes: no hardware instruction, no time; they tell the engine what the framework classes do */
    VNPU_OP_BUFFER_INIT = 320,       /* dst = space, offset, bytes (limit); p[0] = buffer handle, p[1] = TPosition, p[2] = 1 for a queue, 0 for a TBuf */
    VNPU_OP_BUFFER_ACQUIRE = 321,    /* p[0] = buffer handle */
    VNPU_OP_BUFFER_RELEASE = 322,    /* p[0] = buffer handle */
    VNPU_OP_PIPE_BEGIN = 323,        /* TPipe constructed or Reset; scalar = its address, which is only given back */
    VNPU_OP_PIPE_END = 324,          /* TPipe destroyed; scalar as above */
    VNPU_OP_PRINT = 326,             /* src0.addr = address of a text, p[0] = its bytes */
    VNPU_OP_SET_SYS_WORKSPACE = 327, /* scalar = a device address */
    VNPU_OP_TASK_TYPE = 328,         /* p[0] = enum vnpu_core_kind, p[1] = enum vnpu_type_rank, p[2] = 1: cores can not meet (KERNEL_TYPE_AIV_ONLY) */
    VNPU_OP_FAULT = 325,             /* the framework classes found a misuse: p[0] = enum vnpu_fault, p[1..3] and scalar = its figures; never returns */
    /* questions, answered by vnpu_fetch */
    VNPU_OP_GET_BLOCK_IDX = 352,
    VNPU_OP_GET_BLOCK_NUM = 353,
    VNPU_OP_GET_SUB_BLOCK_IDX = 354,
    VNPU_OP_GET_TASK_RATIO = 355,
    VNPU_OP_GET_SYSTEM_CYCLE = 356, /* 50 MHz ticks */
    VNPU_OP_GET_CAPACITY = 357,     /* p[0] = space; bytes */
    VNPU_OP_GET_REDUCE_SUM = 358,   /* bits of the last ReduceSum by count */
    VNPU_OP_GET_REDUCE_BEST = 359,  /* of the last WholeReduceMax or -Min over all its repeats: p[0] = 0 bits of the value, 1 index */
    VNPU_OP_GET_MRG_RESULT = 360,   /* elements that the last MrgSort took from its four lists, 16 bits each */
    VNPU_OP_GET_CTRL = 361,
    VNPU_OP_GET_SYS_WORKSPACE = 362,
    VNPU_OP_GET_CORE_KIND = 363, /* p[0] = 0 enum vnpu_core_kind of the running core, 1 of the launch, 2 a number that no other launch has */
    VNPU_OP_GET_PIPE = 364       /* the newest TPipe of the running core that has not ended: its address, 0 without one */
};

/* What the framework classes (TPipe, TQue) can find wrong by themselves. */
enum vnpu_fault {
    VNPU_FAULT_UB_OVERFLOW = 1,    /* scalar = bytes asked for in all, p[1] = capacity, p[2] = space */
    VNPU_FAULT_BUFFER_LIMIT = 2,   /* p[1] = buffers asked for, p[2] = limit */
    VNPU_FAULT_QUEUE_EMPTY = 3,    /* AllocTensor with every buffer in use: waits for ever; p[1] = buffers */
    VNPU_FAULT_QUEUE_FULL = 4,     /* more EnQue than depth; p[1] = depth */
    VNPU_FAULT_NOTHING_QUEUED = 5, /* DeQue of an empty queue: waits for ever */
    VNPU_FAULT_DOUBLE_FREE = 6,    /* FreeTensor of a free buffer */
    VNPU_FAULT_FOREIGN_TENSOR = 7, /* a tensor that the queue can't take now; p[1] = enum vnpu_strange_tensor */
    VNPU_FAULT_NO_EVENT_ID = 8,    /* more than 8 events in flight on one pipe pair; p[1], p[2] = pipes */
    VNPU_FAULT_BAD_ARGUMENT = 9,   /* an argument outside the documented range; p[1] = argument index, scalar = value */
    VNPU_FAULT_ASSERTION = 10,     /* the kernel's own assert: src0.addr = the failed condition as written */
    VNPU_FAULT_NO_MEMORY = 11,     /* a TBuf that InitBuffer gave nothing */
    VNPU_FAULT_SCRATCH = 12        /* the bytes src1 that a composed call uses as scratch overlap those of its tensor dst */
};

/*
 * Why a queue can't take a tensor. A fault of a queue says which queue and which tensor: src1 = memory of the queue's buffers, p[2] = how many, mask[0] and
 * p[3] = file and line of its InitBuffer (line 0: never called); dst = the tensor, mask[1] and scalar = file and line of the InitBuffer of its buffer (line 0:
 * of no queue).
 */
enum vnpu_strange_tensor { VNPU_TENSOR_OF_NO_QUEUE = 0, VNPU_TENSOR_OF_ANOTHER_QUEUE = 1, VNPU_TENSOR_FREED = 2, VNPU_TENSOR_QUEUED_ALREADY = 3 };

/* In p[3] of VNPU_OP_MMAD and in the high half of mask[1] of VNPU_OP_FIXPIPE: the lowest two bits are the unit flag. */
#define VNPU_UNIT_FLAG 0x3u
#define VNPU_MMAD_ZERO 0x10u    /* from zero, not from what L0C holds */
#define VNPU_MMAD_BIAS 0x20u    /* from the bias table */
#define VNPU_MMAD_K_ALIGN 0x40u /* float: rows of fractals in L0A have an even number of them */
#define VNPU_MMAD_SPARSE 0x100u /* two of four: src1 has k / 2 rows, whose places in k VNPU_OP_LOAD_SPARSE has brought */
#define VNPU_MMAD_HF32 0x80u    /* set by the engine from CTRL, for the cost */
#define VNPU_FIX_ROWS 0x10u     /* row by row (NZ2ND); otherwise columns by columns (NZ2NZ) */
#define VNPU_FIX_RELU 0x20u
#define VNPU_FIX_REGISTERS 0x80u /* matrices and parameters come from the registers */
#define VNPU_FIX_SPLIT 0x40u     /* float, 8 columns at a time */
#define VNPU_FIX_QUANT_SHIFT 8u  /* enum vnpu_quant in the bits from here on */

/* How Fixpipe changes the type, in the order of QuantMode_t. The vector forms have a parameter per column, from src1 in the fixpipe buffer on. */
enum vnpu_quant {
    VNPU_QUANT_NONE = 0,
    VNPU_QUANT_F16 = 1,
    VNPU_QUANT_BF16 = 2,
    VNPU_QUANT_DEQ_F16 = 3,
    VNPU_QUANT_VECTOR_DEQ_F16 = 4,
    VNPU_QUANT_F32_B8 = 5,
    VNPU_QUANT_VECTOR_F32_B8 = 6,
    VNPU_QUANT_REQ_B8 = 7,
    VNPU_QUANT_VECTOR_REQ_B8 = 8
};

/* p[1..3] = number of matrices, fractals and elements from one to the next; scalar = parameter; scalar = byte of the parameters in the fixpipe buffer. */
enum vnpu_fix_register { VNPU_FIX_MATRICES = 0, VNPU_FIX_PARAMETER = 1, VNPU_FIX_PARAMETERS = 2 };

/* In p[3] of VNPU_OP_LOAD_IMAGE. */
#define VNPU_IMAGE_TRANSPOSE 0x1u
#define VNPU_IMAGE_RIGHT_SHAPE 0x2u  /* the right register holds the shape */
#define VNPU_IMAGE_SETS_SHAPE 0x4u   /* mask[0] goes into that register first */
#define VNPU_IMAGE_SETS_PADDING 0x8u /* scalar goes into the register of the padding value first */

/* What VNPU_OP_SET_IMAGE sets: from scalar, or for repeats p[1] = number, p[2] = step in 16 rows or 32 bytes of columns, p[3] = 1: sideways. */
enum vnpu_image_register { VNPU_IMAGE_SHAPE_LEFT = 0, VNPU_IMAGE_SHAPE_RIGHT = 1, VNPU_IMAGE_PADDING = 2, VNPU_IMAGE_BOUNDARY = 3, VNPU_IMAGE_REPEATS = 4 };

#define VNPU_SELECT_REGISTER 0x10u /* in p[3] of VNPU_OP_SELECT */

/* Flags of a record. */
#define VNPU_F_COUNT 0x01u     /* count form: p[0] = elements; sets counter mode and restores normal mode with a full mask */
#define VNPU_F_SET_MASK 0x02u  /* high-dimensional form with its own mask (mask[]); p[0] = repeats */
#define VNPU_F_KEEP_MASK 0x04u /* high-dimensional form that uses the mask register as it is (isSetMask = false); p[0] = repeats */
#define VNPU_F_QUEUE 0x08u     /* sync record issued by TQue/TPipe, not by the user */
#define VNPU_F_L2_BYPASS 0x10u /* copy whose GM side has its L2 hint disabled */

/* One operand. Strides are in 32-byte blocks: blk inside a repeat, rep between repeats (8 = dense). */
struct vnpu_operand {
    uint64_t addr;  /* byte offset on chip, or device address */
    uint32_t limit; /* bytes from addr to the end of the tensor it belongs to; 0xffffffff when unbounded by the tensor */
    uint16_t blk;
    uint16_t rep;
    uint8_t space;
    uint8_t dtype;
    uint8_t reserved[6];
};

struct vnpu_record {
    uint16_t opcode;
    uint8_t pipe; /* the pipe it executes on */
    uint8_t flags;
    uint32_t line; /* of the API call in the kernel's source */
    uint64_t file; /* address of a NUL-terminated path */
    struct vnpu_operand dst;
    struct vnpu_operand src0;
    struct vnpu_operand src1;
    uint64_t scalar;
    uint64_t mask[2];
    uint32_t p[4];
};

/* Issue one instruction of the running core. May not return (the launch is cut). */
void vnpu_submit(const struct vnpu_record *record);

/* Issue one instruction or question that has an answer: the value's bits, zero-extended. */
uint64_t vnpu_fetch(const struct vnpu_record *record);

/* Kinds of core a kernel runs on. */
enum vnpu_core_kind { VNPU_CORE_AIV = 0, VNPU_CORE_AIC = 1, VNPU_CORE_MIX_1_1 = 2, VNPU_CORE_MIX_1_2 = 3 };

/* Who says on which cores a kernel runs. A guess counts where nobody else speaks; of the others the last in this list, whichever comes first. */
enum vnpu_type_rank {
    VNPU_TYPE_DEFAULT = 0,  /* KERNEL_TASK_TYPE_DEFAULT, or the kernel's declaration */
    VNPU_TYPE_GUESSED = 1,  /* a call that needs both kinds of core */
    VNPU_TYPE_OF_KEY = 2,   /* KERNEL_TASK_TYPE for the tiling key that holds */
    VNPU_TYPE_SELECTED = 3, /* ASCENDC_TPL_KERNEL_TYPE_SEL for the combination that runs */
};

/* One launchable kernel of a device library. */
struct vnpu_kernel {
    uint32_t abi_version;
    uint32_t core_kind;
    const char *name;  /* key shared by the host and the device pass */
    const char *title; /* for people */
    uint32_t argument_bytes;
    uint32_t local_bytes;                      /* of variables that every core has for itself (__BLOCK_LOCAL__), in the whole device library */
    void (*entry)(const void *arguments);      /* unpacks the argument block and runs the kernel for the current core */
    void (*cube_entry)(const void *arguments); /* the same for a cube core, where both kinds were compiled apart; else null, and `entry` serves both */
    void *locals;                              /* where those variables lie; null: in another process, or there are none */
};

/*
 * Called by static constructors of the device library while it is loaded. A kernel whose source was compiled for each kind of core is registered twice, each
 * time with one of the two entries.
 */
void vnpu_register_kernel(const struct vnpu_kernel *kernel);

#ifdef __cplusplus
}
static_assert(sizeof(vnpu_operand) == 24, "operand layout is part of the ABI");
static_assert(sizeof(vnpu_record) == 128, "record layout is part of the ABI");
#endif

#endif /* PITON_VNPU_ABI_H */
