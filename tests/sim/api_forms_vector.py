"""The documented forms of the vector unit's calls and of copies, with the element types that the documentation gives for the Ascend 910B (Atlas A2).

Written from the public pages of each call, not from the headers. `api_forms.py` says what the rows mean.
"""

from __future__ import annotations

from api_form import ANY, ARITHMETIC, COPIED, FLOATS, LOGIC, NARROW, SHIFTED, SPREAD, Form, forms

THREE = ("{n}(d, a, b, 8)", "{n}(d, a, b, uint64_t(8), 1, binary)", "{n}(d, a, b, m, 1, binary)", "{n}<T, false>(d, a, b, MASK_PLACEHOLDER, 1, binary)")
TWO = ("{n}(d, a, 8)", "{n}(d, a, uint64_t(8), 1, unary)", "{n}(d, a, m, 1, unary)", "{n}<T, false>(d, a, MASK_PLACEHOLDER, 1, unary)")
NUMBER = ("{n}(d, a, s, 8)", "{n}<T, false>(d, a, s, 1)", "{n}(d, a, s, uint64_t(8), 1, unary)", "{n}(d, a, s, m, 1, unary)")
COMPARED = ("{n}(u8, a, b, CMPMODE::EQ, 64)", "{n}(u8, a, b, CMPMODE::EQ, uint64_t(8), 1, binary)", "{n}(i8, a, b, CMPMODE::EQ, m, 1, binary)")
COMPARED_NUMBER = ("{n}(u8, a, s, CMPMODE::EQ, 64)", "{n}(u8, a, s, CMPMODE::EQ, uint64_t(8), 1, unary)", "{n}(u8, a, s, CMPMODE::EQ, m, 1, unary)")
REDUCED = ("{n}(d, a, b, 8, true)", "{n}(d, a, b, 8)", "{n}(d, a, b, m, 1, 8, true)", "{n}(d, a, b, 64, 1, 8)")
AXIS = ("{n}<T, Pattern::Reduce::AR>(d, a, u8, shape, true)", "{n}<T, Pattern::Reduce::RA, true>(d, a, shape, true)")
WHOLE = ("{n}(d, a, 64, 1, 1, 1, 8)", "{n}(d, a, m, 1, 1, 1, 8)", "{n}<T, false>(d, a, 64, 1, 1, 1, 8)")
ORDERED = ("{n}(d, a, 64, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE)", "{n}(d, a, m, 1, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX)")
BLOCKS = ("{n}(d, a, 1, 64, 1, 1, 8)", "{n}(d, a, 1, m, 1, 1, 8)", "{n}<T, false>(d, a, 1, 64, 1, 1, 8)")
SELECTED = (
    "{n}(d, x, a, b, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64)",
    "{n}(d, x, a, b, SELMODE::VSEL_CMPMASK_SPR, uint64_t(8), 1, binary)",
    "{n}(d, x, a, b, SELMODE::VSEL_CMPMASK_SPR, m, 1, binary)",
    "{n}(d, x, a, s, SELMODE::VSEL_TENSOR_SCALAR_MODE, 64)",
    "{n}(d, x, a, s, SELMODE::VSEL_TENSOR_SCALAR_MODE, uint64_t(8), 1, binary)",
    "{n}(d, x, a, s, SELMODE::VSEL_TENSOR_SCALAR_MODE, m, 1, binary)",
    "{n}(d, x, a, 1, binary)",
)
BITS = ("uint8_t", "int8_t", "uint16_t", "uint32_t", "uint64_t")
CASTS = (
    "half,int4b_t half,int8_t half,uint8_t half,int16_t float,int16_t int4b_t,half int8_t,half uint8_t,half int16_t,half int32_t,half float,half "
    "int32_t,bfloat16_t float,bfloat16_t int16_t,int32_t half,int32_t float,int32_t int64_t,int32_t int16_t,float half,float bfloat16_t,float int32_t,float "
    "float,float int64_t,float int32_t,int64_t float,int64_t"
)
AXPY = "half,half float,float float,half"
PATTERNS = "int16_t,uint16_t uint16_t,uint16_t half,uint16_t bfloat16_t,uint16_t int32_t,uint32_t uint32_t,uint32_t float,uint32_t"
POWERS = tuple(f"{{n}}({operands}{rest})" for operands in ("d, a, b", "d, a, s", "d, s, b") for rest in (", u8, 8", ", u8", ", 8", ""))
BYTEWISE = f"{COPIED} bool int4b_t"  # no page lists the last two, public kernels copy them: what is copied is bytes
BOTH_SIZES = ("{n}(d, a, u8, 8)", "{n}(d, a, 8)", "{n}<T, true>(d, a, 8)")

VECTOR: tuple[Form, ...] = (
    *forms("Add Sub Mul Max Min", THREE, ARITHMETIC),
    *forms("Div", THREE, FLOATS),
    *forms("And Or", THREE[1:], LOGIC),
    *forms("And Or", THREE[:1], f"{LOGIC} int32_t uint32_t"),
    *forms("Add", ("d = a + b",), ARITHMETIC),
    *forms("Sub", ("d = a - b",), ARITHMETIC),
    *forms("Mul", ("d = a * b",), ARITHMETIC),
    *forms("Div", ("d = a / b",), FLOATS),
    *forms("And", ("d = a & b",), f"{LOGIC} int32_t uint32_t"),
    *forms("Or", ("d = a | b",), f"{LOGIC} int32_t uint32_t"),
    *forms("Exp Ln Sqrt Abs", TWO, FLOATS),
    *forms("Not", TWO, LOGIC),
    *forms("Exp", ("{n}<T, 4>(d, a, u8, 8)", "{n}<T, 4, true>(d, a, 8)"), FLOATS),
    *forms("Adds Muls Maxs Mins", NUMBER, ARITHMETIC),
    *forms("ShiftRight", NUMBER, SHIFTED),
    *forms("ShiftRight", ("{n}(d, a, s, uint64_t(8), 1, unary, true)", "{n}(d, a, s, m, 1, unary, true)"), SHIFTED),
    *forms("Axpy", ("{n}(d, x, r, 8)", "{n}(d, x, r, uint64_t(8), 1, unary)", "{n}(d, x, r, m, 1, unary)"), AXPY, "half,float int16_t,int16_t"),
    *forms("Axpy", ("{n}(d, x, r, u8, 8)", "{n}<T, U, true>(d, x, r, u8, 8)"), AXPY, "half,float"),
    *forms("Compare", COMPARED, "half float int32_t"),
    *forms("Compare", ("{n}(a, b, CMPMODE::LT, uint64_t(8), binary)", "{n}(a, b, CMPMODE::LT, m, binary)"), FLOATS),
    *forms("Compare", ("u8 = a < b",), "half float int32_t"),
    *forms("Compare", tuple(f"u8 = a {sign} b" for sign in (">", "<=", ">=", "==", "!=")), "half float int32_t", ""),  # one function with that of <
    *forms("Compares CompareScalar", COMPARED_NUMBER, "half float int32_t"),
    *forms(
        "Select", SELECTED, " ".join(f"{kind},{bits}" for kind in FLOATS.split() for bits in BITS), "half,int16_t float,half int32_t,uint8_t bfloat16_t,uint8_t"
    ),
    *forms("Select", ("{n}<T, SELMODE::VSEL_CMPMASK_SPR>(d, a, b, 1, binary)", "{n}<T, SELMODE::VSEL_TENSOR_TENSOR_MODE>(d, a, b, 1, binary)"), FLOATS),
    *forms("GatherMask", ("{n}(d, a, x, true, 70, gathered, kept)", "{n}<T, U>(d, a, x, false, 0, gathered, kept)"), PATTERNS, "half,uint32_t int8_t,uint16_t"),
    *forms("GatherMask", ("{n}(d, a, uint8_t(2), false, 0, gathered, kept)",), SPREAD),
    *forms("Cast", ("{n}(d, x, RoundMode::CAST_NONE, 8)",), CASTS, "*"),
    *forms(
        "Cast", ("{n}(d, x, RoundMode::CAST_RINT, uint64_t(8), 1, unary)", "{n}<T, U, false>(d, x, RoundMode::CAST_RINT, m, 1, unary)"), CASTS, "half,double"
    ),
    *forms("ReduceSum", ("{n}(d, a, b, 8)", "{n}<T, false>(d, a, b, 8)", "{n}(d, a, b, m, 1, 8)", "{n}(d, a, b, 64, 1, 8)"), FLOATS),
    *forms("ReduceSum", AXIS, "float"),
    *forms("ReduceMax", (*REDUCED, *AXIS), FLOATS),
    *forms("WholeReduceSum", WHOLE, FLOATS),
    *forms("WholeReduceMax", (*WHOLE, *ORDERED), FLOATS),
    *forms("BlockReduceSum BlockReduceMax", BLOCKS, FLOATS),
    *forms("Duplicate", ("{n}(d, s, 8)", "{n}(d, s, uint64_t(8), 1, 1, 8)", "{n}(d, s, m, 1, 1, 8)", "{n}<T, false>(d, s, MASK_PLACEHOLDER, 1, 1, 8)"), SPREAD),
    *forms("Brcb", ("{n}(d, a, 1, brcb)",), SPREAD),
    *forms("CreateVecIndex", ("{n}(d, s, 8)", "{n}(d, s, uint64_t(8), 1, 1, 8)", "{n}(d, s, m, 1, 1, 8)"), ARITHMETIC),
    *forms("ArithProgression", ("{n}(d, s, s, 8)",), ARITHMETIC),
    *forms("Copy", ("{n}(d, a, uint64_t(8), 1, copied)", "{n}(d, a, m, 1, copied)", "{n}<T, false>(d, a, MASK_PLACEHOLDER, 1, copied)"), SPREAD),
    *forms("Gather", ("{n}(d, a, u32, 0, 8)", "{n}(d, a, u32, 0, uint64_t(8), 1, 8)", "{n}(d, a, u32, 0, m, 1, 8)"), SPREAD),
    *forms("TransDataTo5HD", ("{n}<T>(places, places, turned)", "{n}<T>(u64, u64, turned)", "{n}(rows, rows, turned)"), NARROW),
    *forms("Power", POWERS[::4], "half float int32_t"),
    *forms("Power", tuple(call for at, call in enumerate(POWERS) if at % 4), "half float int32_t", ""),  # they are made of the first of each four
    *forms("Floor Ceil", BOTH_SIZES, FLOATS),
    *forms("Log", ("{n}(d, a, 8)", "{n}(d, a)", "{n}<T, true>(d, a, 8)"), FLOATS),
    *forms(
        "BroadCast",
        ("{n}<T, 2, 1>(d, a, shape, shape, u8)", "{n}<T, 2, 0>(d, a, shape, shape)", "{n}<T, 1, 0>(d, a, shape, shape)"),
        "int8_t uint8_t half float",
    ),
    *forms("InitGlobalMemory", ("{n}(g, 8, s)",), SPREAD),  # bfloat16_t as public kernels use it
    *forms("InitOutput", ("{n}(g, 8, s)", "{n}<T>(g, 8)"), SPREAD),
    *forms("DataCopy", ("{n}(d, g, 8)", "{n}(g, a, 8)", "{n}(d, a, 8)", "{n}(d, g, blocks)", "{n}(g, a, blocks)", "{n}(d, a, blocks)"), BYTEWISE, ""),
    *forms("DataCopy", ("{n}(d, g, slice, slice, 1)", "{n}(g, a, slice, slice)"), f"{NARROW} bfloat16_t", "int64_t double"),
    *forms("DataCopy", ("{n}(d, g, nz)",), f"{NARROW} bfloat16_t int4b_t", "int64_t double"),
    *forms("DataCopyPad", ("{n}(d, g, bytes, padding)", "{n}(g, a, bytes)", "{n}(d, g, blocks, bits)", "{n}(g, a, blocks)"), BYTEWISE, ""),
    *forms("SetAtomicAdd", ("{n}<T>()",), "int8_t int16_t half bfloat16_t int32_t float"),
    *forms("SetAtomicNone SetMaskCount SetMaskNorm", ("{n}()",), ANY),
    *forms("SetVectorMask", ("{n}<T>(m[0], m[1])", "{n}<T, MaskMode::COUNTER>(100)", "{n}<T, MaskMode::NORMAL>(8)"), "half float int32_t", ""),
)
