"""The documented forms of Matmul objects, with the types of A, B, C and bias that the Ascend 910B (Atlas A2) has.

Written from the public pages of each call, not from the headers. `api_form.py` says what the rows mean. T is the type of C, U that of A and B.
"""

from __future__ import annotations

from api_form import Form, forms

SIDE = "using A = MatmulType<TPosition::GM, CubeFormat::ND, U, true>; using C = MatmulType<TPosition::GM, CubeFormat::ND, T>; "
TYPES = "float,half half,half float,bfloat16_t bfloat16_t,bfloat16_t float,float int32_t,int8_t half,int8_t"
ONE = "float,half"
MATRICES = "half float bfloat16_t int8_t int32_t"
PLACES = ("GM", "TSCM", "VECOUT", "VECIN", "CO1")
FORMATS = ("ND", "NZ", "ND_ALIGN", "VECTOR")
RESULT = ("g", "g, 1", "g, 0, true")


def of_object(name: str, arguments: tuple[str, ...], types: str) -> tuple[Form, ...]:
    """A member function of a Matmul object; an argument list may be `<template arguments>(arguments)`."""
    calls = tuple(given if given.startswith("<") else f"({given})" for given in arguments)
    return forms(f".{name}", tuple(f"{SIDE}Matmul<A, A, C> mm; mm.{'template ' if call[0] == '<' else ''}{name}{call}" for call in calls), types, "")


MATMUL: tuple[Form, ...] = (
    *forms("MatmulType", tuple(f"{{n}}<TPosition::{place}, CubeFormat::ND, T> one" for place in PLACES), MATRICES, ""),
    *forms("MatmulType", tuple(f"{{n}}<TPosition::GM, CubeFormat::{form}, T> one" for form in FORMATS), MATRICES, ""),
    *forms("MatmulType", ("{n}<TPosition::GM, CubeFormat::ND, T, true, LayoutMode::BSNGD, true> one",), MATRICES, ""),
    *forms("MatmulImpl", tuple(f"{SIDE}{{n}}<A, A, C> mm{rest}" for rest in ("", "; mm.Init(&plan)", "; mm.Init(&plan, pipe_)")), TYPES, ""),
    *forms("REGIST_MATMUL_OBJ", (SIDE + "Matmul<A, A, C> mm; {n}(pipe_, GetSysWorkSpacePtr(), mm)",), TYPES, ""),
    *forms("REGIST_MATMUL_OBJ", (SIDE + "Matmul<A, A, C> mm; {n}(pipe_, GetSysWorkSpacePtr(), mm, &plan)",), TYPES, ""),
    *forms("REGIST_MATMUL_OBJ", (SIDE + "Matmul<A, A, C> mm, two; {n}(pipe_, GetSysWorkSpacePtr(), mm, &plan, two, &plan)",), ONE, ""),
    *of_object("SetTensorA", ("h", "h, true", "x", "x, true"), TYPES),
    *of_object("SetTensorB", ("h", "h, true", "x", "x, true"), TYPES),
    *of_object("SetBias", ("g", "d"), "float,half float,float"),
    *of_object("SetOrgShape", ("8, 8, 8", "8, 8, 8, 8", "8, 8, 8, 8, 8"), ONE),
    *of_object("SetSingleShape", ("8, 8, 8",), ONE),
    *of_object("SetTail", ("", "8", "8, 8, 8"), ONE),
    *of_object("SetSubBlockIdx", ("1",), ONE),
    *of_object("Iterate", ("", "true", "<false>()"), ONE),
    *forms(
        ".Iterate",
        (SIDE + "MatmulImpl<A, A, MatmulType<TPosition::CO1, CubeFormat::NZ, T>> mm; mm.Iterate(false, d)",),
        "float,half float,bfloat16_t int32_t,int8_t",
        "",
    ),
    *of_object("IterateAll", (*RESULT, "<false>(g)", "g, 0, false, true", "g, 0, false, false, true"), TYPES),
    *of_object("IterateAll", ("d", "d, 1"), ONE),
    *of_object("GetTensorC", (*RESULT, "<false>(g)", "d", "d, 0, true", "g, d", "", "<false>()"), TYPES),
    *forms(".End", (SIDE + "Matmul<A, A, C> mm; mm.End()",), ONE, ""),
)
