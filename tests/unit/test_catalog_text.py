"""Is every malformed file a FormatError with a place, and every value spelling read?"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piton.catalog.cases import read_cases
from piton.catalog.proto import read_proto
from piton.catalog.schema import parse_schema
from piton.catalog.source import MAX_FILE_BYTES, parse_yaml, read_text
from piton.catalog.suite import SUITES_ROOT
from piton.catalog.values import parse_cell, to_attr_type, to_attr_value, to_dtype
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError

EXP = SUITES_ROOT / "piton" / "level1" / "exp"
PROTO_TEXT = (EXP / "proto.yaml").read_text()
TABLE_TEXT = "".join((EXP / "cases.csv").read_text().splitlines(keepends=True)[:6])
ErrorT = TypeVar("ErrorT", bound=Exception)

# YAML


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "f.yaml:2:1: not valid YAML"),
        ("a: 1\n\tb: 2", "f.yaml:2:1: not valid YAML"),
        ("a: 1\nb\n", "not valid YAML"),
        ("a: 1\na: 2", "f.yaml:2:1: key 'a' twice"),
        ("a: 1\n---\nb: 2", "f.yaml:2:1: more than one YAML document"),
        ("a: !!python/object/apply:os.system ['ls']", "f.yaml:1:4: YAML tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !!int ''", "YAML tag tag:yaml.org,2002:int"),
        ("a: !!timestamp x", "YAML tag"),
        ("? [a, b]\n: 1", "a list, mapping or alias as a key"),
        ("a: *x", "alias *x without a finished &x before it"),
        ("a: &x [*x]", "alias *x without a finished &x before it"),
        ("[" * 40 + "]" * 40, "deep nesting"),
        ("a: \x00", "not valid YAML"),
        ("\ud7ff\x07", "not valid YAML"),
    ],
)
def test_broken_yaml_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_yaml(text, "f.yaml")
    assert message in str(caught.value)


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(FormatError, match="a very large document"):
        parse_yaml("\n".join(lines), "f.yaml")


def test_a_long_chain_of_aliases_counts_as_depth() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(FormatError, match="deep nesting"):
        parse_yaml("\n".join(lines), "f.yaml")


def test_yaml_values_are_plain_and_know_their_lines() -> None:
    located = parse_yaml("a: 1\nb: [x, 2.5, .inf, null, true, 2001-01-01, '7', 1e-8, 0b_]\nc:\n  d: &k {e: 1}\n  f: *k\n", "f.yaml")
    assert located.data["b"] == ["x", 2.5, math.inf, None, True, "2001-01-01", "7", "1e-8", "0b_"]
    assert located.data["c"] == {"d": {"e": 1}, "f": {"e": 1}}
    assert located.where(("c", "d", "e")) == "f.yaml:4"
    assert located.where(("c", "f", "e")) == "f.yaml:5"
    assert located.where(("nowhere",)) == "f.yaml:1"
    assert parse_yaml("", "f.yaml").data is None


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"one\ntwo \xe9\n")
    with pytest.raises(FormatError, match="latin:2: not UTF-8"):
        read_text(tmp_path / "latin")
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    with pytest.raises(FormatError, match="file too large"):
        read_text(tmp_path / "big")
    with pytest.raises(UsageError, match="cannot be read"):
        read_text(tmp_path / "missing")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbfa: 1")
    assert read_text(tmp_path / "marked") == "a: 1"


def refusal(kind: type[ErrorT], call: Callable[[], object]) -> ErrorT | None:
    """The error of that kind, None when the call returns; any other error ends the test."""
    try:
        call()
    except kind as error:
        return error
    return None


# Random damage: the reader may accept it or refuse it, and nothing else


def damaged(text: str) -> st.SearchStrategy[str]:
    """The text with a piece cut out and another put in."""
    piece = st.text(alphabet="[]{}\"',:&*!|>-? \n\t#%@`0aeN.\\\x00é", max_size=6)
    return st.builds(lambda start, length, new: text[:start] + new + text[start + length :], st.integers(0, len(text)), st.integers(0, 40), piece)


@settings(max_examples=300, deadline=None)
@given(damaged(PROTO_TEXT) | st.text(max_size=60))
def test_damaged_yaml_is_read_or_refused(text: str) -> None:
    error = refusal(FormatError, lambda: parse_yaml(text, "f.yaml"))
    assert error is None or error.where.startswith("f.yaml")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=damaged(PROTO_TEXT))
def test_a_damaged_proto_is_read_or_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "golden.py").write_text("")
    (tmp_path / "proto.yaml").write_text(text, newline="")
    error = refusal(FormatError, lambda: read_proto(tmp_path))
    assert error is None or error.where.startswith(str(tmp_path))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=damaged(TABLE_TEXT))
def test_a_damaged_table_is_read_or_refused(tmp_path: Path, text: str) -> None:
    operator = read_proto(EXP).operator
    (tmp_path / "cases.csv").write_text(text, newline="")
    for is_strict in (True, False):
        error = refusal(FormatError, lambda is_strict=is_strict: read_cases(tmp_path, operator, is_strict=is_strict))
        assert error is None or "cases.csv" in error.where


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="[](){}\"'+-,:.0123456789eEinfaNullTrueFalse \n\\x", max_size=30))
def test_any_cell_is_read_or_refused(text: str) -> None:
    error = refusal(ValueError, lambda: parse_cell(text))
    assert error is None or str(error)


@settings(max_examples=300, deadline=None)
@given(damaged("op(Tensor x, Tensor(a!)? y=None, *, int[2] k=[1, 2], str s='n, o') -> (Tensor a, Tensor[] b)"))
def test_any_schema_is_read_or_refused(text: str) -> None:
    error = refusal(ValueError, lambda: parse_schema(text))
    assert error is None or str(error)


# Values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, -2, +3]", [1, -2, 3]),
        ("(1, (2, [3]))", [1, [2, [3]]]),
        ("{'a': null, \"b\": true}", {"a": None, "b": True}),
        ("[-Infinity, Inf, None, False]", [-math.inf, math.inf, None, False]),
        ("  'x'  ", "x"),
        ("1e-8", 1e-8),
    ],
)
def test_cells_are_json_or_python(text: str, value: object) -> None:
    assert parse_cell(text) == value


@pytest.mark.parametrize("text", ["", "a", "1 + 2", "[x for x in y]", "f()", "{**a}", "{1}", "b'x'", "1j", "...", "x.y", "-'1'", "not 1", "-True"])
def test_code_in_a_cell_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_cell(text)


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("int", "int Int INT int64 int64_t long SymInt int?"),
        ("float", "float Float double float32 Scalar"),
        ("bool", "bool BOOL Boolean"),
        ("str", "str string String"),
        ("dtype", "dtype ScalarType"),
        ("int_list", "ListInt listInt int[] int[2] List[int] list<int64_t> IntList list_int tuple(int)"),
        ("float_list", "ListFloat float[] List[float]"),
        ("bool_list", "ListBool bool[]"),
        ("str_list", "ListString str[] List[str]"),
    ],
)
def test_attribute_types_are_read_in_all_spellings(kind: str, spellings: str) -> None:
    assert {to_attr_type(spelling) for spelling in spellings.split()} == {kind}


@pytest.mark.parametrize("spelling", ["", "Tensor", "List[Tensor]", "int[][]", "list", "floatish"])
def test_an_unknown_attribute_type_is_refused(spelling: str) -> None:
    with pytest.raises(ValueError, match="unknown attribute type"):
        to_attr_type(spelling)


def test_attribute_values_are_converted_by_type() -> None:
    assert to_attr_value("float", "1e-8") == 1e-8
    assert to_attr_value("float", "-inf") == -math.inf
    assert to_attr_value("int", 3.0) == 3
    assert to_attr_value("bool", "True") is True
    assert to_attr_value("bool", 0) is False
    assert to_attr_value("int_list", [1, "2"]) == (1, 2)
    assert to_attr_value("str", None) is None
    for kind, value in (("int", 2.5), ("int", "inf"), ("float", 10**400), ("float", True), ("bool", 2), ("str", True), ("int_list", 3), ("str_list", [1])):
        with pytest.raises(ValueError, match=r"."):
            to_attr_value(kind, value)  # type: ignore[arg-type]


def test_element_types_are_read_by_name_and_alias() -> None:
    assert [to_dtype(name) for name in ("float16", "torch.bfloat16", "FP32", "half")] == [DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT16]
    for name in ("float17", "", 3, None):
        with pytest.raises(ValueError, match=r"."):
            to_dtype(name)


# Schemas


def test_a_schema_is_read_with_all_its_forms() -> None:
    schema = parse_schema(
        'ns::op.out(Tensor x, Tensor(a!)? y=None, Tensor[] z, *, int[2] k=[1, 2], str s="a, b", float? e=1e-8) -> (Tensor a, Tensor[] b, Tensor?)'
    )
    assert schema.name == "out"
    assert [(item.name, item.kind, item.is_optional, item.is_required, item.is_keyword_only) for item in schema.arguments] == [
        ("x", "tensor", False, True, False),
        ("y", "tensor", True, False, False),
        ("z", "tensor_list", False, True, False),
        ("k", "attribute", False, False, True),
        ("s", "attribute", False, False, True),
        ("e", "attribute", True, False, True),
    ]
    assert [item.default for item in schema.arguments[3:]] == [(1, 2), "a, b", 1e-8]
    assert schema.arguments[1].is_mutable
    assert [(item.name, item.kind) for item in schema.results] == [("a", "tensor"), ("b", "tensor_list"), ("output2", "tensor")]
    argument = schema.argument("k")
    assert argument is not None
    assert argument.attr_type == "int_list"
    assert schema.argument("nothing") is None


def test_a_schema_may_have_no_arguments() -> None:
    assert parse_schema("op() -> Tensor y").arguments == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op", "a schema looks like"),
        ("op(Tensor x)", "a schema looks like"),
        ("op(Tensor) -> Tensor y", "a type but no name"),
        ("op(Tensor x, Tensor x) -> Tensor y", "argument 'x' appears twice"),
        ("op(Tensor x) -> (Tensor y, Tensor y)", "result 'y' appears twice"),
        ("op(Tensor x,) -> Tensor y", "an argument is empty"),
        ("op(Tensor x, int[ k) -> Tensor y", "an opening bracket"),
        ("op(Tensor x], int k) -> Tensor y", "a closing bracket"),
        ("op(Tensor x=3) -> Tensor y", "can only have None as default"),
        ("op(Tensor x, int k=a) -> Tensor y", "not a plain value"),
        ("op(Tensor x, int k='a') -> Tensor y", "could not convert"),
        ("op(Tensor x, thing k) -> Tensor y", "unknown attribute type"),
        ("op(Tensor x) -> int y", "is not a tensor"),
    ],
)
def test_a_wrong_schema_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_schema(text)


def test_a_list_type_may_name_its_elements_in_brackets() -> None:
    argument = parse_schema("f(Tensor x, list[int]? sizes=None) -> Tensor y").argument("sizes")
    assert argument is not None
    assert argument.attr_type == "int_list"
