"""Are generated and hidden cases what the rules and the key make them: under the dataset rules, deterministic, disjoint, and readable back?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from piton.catalog.case_table import cases_csv
from piton.catalog.cases import read_case_table
from piton.catalog.expression import ExpressionError, parse_expression
from piton.catalog.rules import read_rules
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.errors import FormatError, UsageError
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.suite import SuiteOperator
from piton.curate.aspects import identity_key, is_prime
from piton.curate.generate import generate_cases
from piton.curate.hidden import HiddenKey, hidden_cases, hidden_suite, read_key, require_cases
from piton.curate.lint import check_structure, load_subjects, with_cases
from piton.curate.stream import Stream
from piton.curate.violation import Subject

SUITE, SUBJECTS, _ = load_subjects("piton")
KEY, OTHER = HiddenKey(bytes(range(40))), HiddenKey(bytes(range(1, 41)))

PINNED = [(10729, 293), (2207, 16, 3, 23)]

TELLING = {"exp", "gelu", "rms_norm", "softmax", "foreach_norm", "scatter", "transpose", "strided_slice", "grouped_matmul", "conv_2d", "gru"}
"""Operators whose rules use every feature of the language between them."""

by_telling = pytest.mark.parametrize("subject", [item for item in SUBJECTS if item.operator.name in TELLING], ids=lambda item: item.operator.name)
by_operator = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda item: item.operator.name)


def member(subject: Subject) -> SuiteOperator:
    return SuiteOperator(operator=subject.operator, cases=subject.cases)


@by_telling
def test_generated_cases_pass_the_structural_lint_for_any_seed(subject: Subject) -> None:
    for seed in range(4):
        cases, _ = generate_cases(SUITE, member(subject), seed)
        assert check_structure(with_cases(subject, cases, "generated")) == [], seed


@by_telling
def test_the_same_seed_gives_the_same_cases_and_another_one_others(subject: Subject) -> None:
    first, origin = generate_cases(SUITE, member(subject), 3)
    again, _ = generate_cases(SUITE, member(subject), 3)
    other, _ = generate_cases(SUITE, member(subject), 4)
    assert first == again
    assert not {identity_key(case) for case in first} & {identity_key(case) for case in other}
    assert (origin.seed, origin.operator, origin.count) == (3, subject.operator.name, 20)


def test_a_seed_means_the_same_in_every_version_of_the_generator() -> None:
    """A change here is a change of GENERATOR_VERSION, and of every hidden set."""
    exp = next(item for item in SUBJECTS if item.operator.name == "exp")
    cases, _ = generate_cases(SUITE, member(exp), 0)
    assert [case.inputs[0].shape for case in cases[:2]] == PINNED


@by_telling
def test_a_written_table_reads_back_as_the_same_cases(tmp_path: Path, subject: Subject) -> None:
    table = tmp_path / "cases.csv"
    for cases in (generate_cases(SUITE, member(subject), 1)[0], hidden_cases(SUITE, member(subject), KEY, 20)):
        table.write_text(cases_csv(subject.operator, cases))
        back = read_case_table(table, subject.operator)
        assert [case.digest() for case in back] == [case.digest() for case in cases]
        assert [case.note for case in back] == [case.note for case in cases]


@by_operator
def test_eighty_hidden_cases_pass_the_structural_lint_and_repeat_no_public_one(subject: Subject) -> None:
    cases = hidden_cases(SUITE, member(subject), KEY)
    assert len(cases) == 80
    assert check_structure(with_cases(subject, cases, "hidden")) == []
    assert not {case.elements for case in cases} & {case.elements for case in subject.cases}
    assert len({identity_key(case) for case in cases}) == 80
    assert len({case.seed for case in cases}) == 80


@by_telling
def test_the_same_key_gives_the_same_set_and_another_key_another_one(subject: Subject) -> None:
    first, again, other = (hidden_cases(SUITE, member(subject), key, 40) for key in (KEY, HiddenKey(bytes(range(40))), OTHER))
    assert first == again
    assert not {identity_key(case) for case in first} & {identity_key(case) for case in other}
    assert not {case.seed for case in first} & {case.seed for case in other}


def test_a_hidden_set_has_the_key_id_in_its_name_and_its_digest_but_never_the_key() -> None:
    few = SUITE.model_copy(update={"members": SUITE.members[:3]})
    hidden, other = hidden_suite(few, KEY, 20), hidden_suite(few, OTHER, 20)
    assert hidden.hidden == f"{KEY.key_id}/20"
    assert len({few.digest(), hidden.digest(), other.digest(), hidden_suite(few, KEY, 40).digest()}) == 4
    assert KEY.key_id != OTHER.key_id
    assert "secret" not in repr(KEY)
    assert KEY.secret.hex() not in hidden.model_dump_json()


def test_an_operator_without_rules_has_no_hidden_cases_and_asking_for_them_says_so() -> None:
    bare = SUBJECTS[0].operator.model_copy(update={"golden_path": "/nowhere/golden.py"})
    hidden = hidden_suite(SUITE.model_copy(update={"members": (SuiteOperator(operator=bare, cases=SUBJECTS[0].cases),)}), KEY, 5)
    with pytest.raises(UsageError, match="has no hidden cases"):
        require_cases(hidden.members)


@pytest.mark.parametrize(
    ("content", "problem"), [(b"short", "wrong length"), (b"a" * 64, "too uniform"), (b"x" * 5000, "wrong length"), (b" " * 64, "wrong length")]
)
def test_a_bad_key_is_an_error_that_does_not_show_it(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=problem) as raised:
        read_key(path)
    assert content.decode().strip() not in str(raised.value) or not content.strip()


def test_a_key_that_others_can_read_is_a_warning_and_white_space_around_it_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(bytes(range(48, 90)) + b"\n")
    os.chmod(path, 0o600)
    assert read_key(path).warning == ""
    assert read_key(path).secret == bytes(range(48, 90))
    for mode in (0o640, 0o604, 0o620):
        os.chmod(path, mode)
        assert f"{mode:o}" in read_key(path).warning


def test_a_key_file_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_key(tmp_path / "none")


# Streams and formulas


def test_a_stream_is_fixed_by_key_and_label() -> None:
    words = [Stream(b"key", "label", 1).word(), Stream(b"key", "label", 1).word(), Stream(b"key", "label", 2).word(), Stream(b"yek", "label", 1).word()]
    assert words[0] == words[1]
    assert len(set(words)) == 3


def test_draws_keep_their_bounds_and_reach_them() -> None:
    stream = Stream(b"key", "bounds")
    assert {stream.between(2, 5) for _ in range(200)} == {2, 3, 4, 5}
    assert all(0.5 <= stream.log_uniform(0.5, 8) <= 8 for _ in range(200))
    assert sorted(stream.shuffled(range(50))) == list(range(50))
    with pytest.raises(ValueError, match="nothing below"):
        stream.below(0)


def test_primes_agree_with_trial_division() -> None:
    assert [number for number in range(2, 2000) if is_prime(number)] == [
        number for number in range(2, 2000) if all(number % small for small in range(2, number))
    ]
    assert is_prime(1_000_003)
    assert not is_prime(1_000_003 * 1_000_033)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2 * H + 1", 9), ("H // 3", 1), ("-H % 3", 2), ("log(1)", 0), ("max(H, 7) if H > 3 else 0", 7), ("1 <= H < 5", True), ("not H == 4 or H != 4", False)],
)
def test_a_formula_has_the_value_that_python_gives_it(text: str, value: float) -> None:
    assert parse_expression(text).value({"H": 4}) == value


@pytest.mark.parametrize(
    "text", ["H ** 9", "__import__('os')", "H.real", "[H]", "lambda: 1", "open(H)", "'a'", "log(x=1)", "1 +", "(" * 300 + "1" + ")" * 300, "1+" * 300 + "1"]
)
def test_a_formula_is_arithmetic_and_nothing_else(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse_expression(text)


def test_a_formula_without_a_value_says_why() -> None:
    with pytest.raises(ExpressionError, match="needs 'K'"):
        parse_expression("K + 1").value({})
    with pytest.raises(ExpressionError, match="no value"):
        parse_expression("1 // K").value({"K": 0})
    with pytest.raises(ExpressionError, match="not a whole number"):
        parse_expression("K / 2").whole({"K": 3})


# rules.yaml

F32, F16, I32 = DType.FLOAT32, DType.FLOAT16, DType.INT32


def wide_operator(folder: Path) -> Operator:
    """Lists, an optional input, an index input, attributes of every kind."""
    (folder / "golden.py").write_text("")
    return Operator(
        name="op",
        title="Op",
        level=1,
        category="",
        schema_text="",
        inputs=(
            TensorSpec(name="a", dtypes=(F32, F16), is_list=True),
            TensorSpec(name="w", dtypes=(F32, F16)),
            TensorSpec(name="i", dtypes=(I32,)),
            TensorSpec(name="bias", dtypes=(F32, F16), is_optional=True),
        ),
        outputs=(TensorSpec(name="y", dtypes=(F32, F16)),),
        attributes=(
            AttrSpec(name="groups", type="int", is_required=True),
            AttrSpec(name="mode", type="str", default="sum"),
            AttrSpec(name="k", type="int", default=1),
            AttrSpec(name="size", type="int_list", is_required=True),
        ),
        golden_path=str(folder / "golden.py"),
    )


WIDE = """rules:
  axes: {G: {choices: [2, 4, 8]}, H: {low: 33, high: 4000}, O: {low: 3, high: 9}}
  layouts:
  - shapes: {a: [..., "G * H"], w: [G, H], i: [G], bias: ["G * H"]}
    ranks: [2, 3]
  - {shapes: {a: [M, "G * H"], w: [G, H], i: [G]}}
  attributes: {groups: {value: G}, mode: {choices: [sum, mean]}, k: {low: 2, high: 5, when: G > 2 and layout == 1}, size: {value: [2 * O, G]}}
  values: {i: [[0, H - 1]]}
  list_length: [2, 3]
  require: [rank < 3 or bits == 32, G * H < 20000, O != 5]
"""


def wide_cases(tmp_path: Path) -> tuple[Case, ...]:
    operator = wide_operator(tmp_path)
    (tmp_path / "rules.yaml").write_text(WIDE)
    return generate_cases(SUITE, SuiteOperator(operator=operator, cases=()), 5, 20)[0]


def test_rules_tie_shapes_attributes_ranges_and_lists_together(tmp_path: Path) -> None:
    cases = wide_cases(tmp_path)
    assert {case.omitted for case in cases} == {(), ("bias",)}
    for case in cases:
        named = {item.argument: item for item in case.inputs}
        groups, size = named["w"].shape
        lists = [item for item in case.inputs if item.argument == "a"]
        assert case.attributes["groups"] == groups
        assert case.attributes["mode"] in ("sum", "mean")
        assert case.attributes["k"] in ((2, 3, 4, 5) if groups > 2 and "bias" in case.omitted else (1,))
        assert case.attributes["size"] in {(2 * size, groups) for size in (3, 4, 6, 7, 8, 9)}
        assert [item.list_index for item in lists] == list(range(len(lists)))
        assert len(lists) in (2, 3)
        assert {item.shape[-1] for item in lists} == {groups * size}
        assert (named["i"].dtype, named["i"].low, named["i"].high) == (I32, 0, size - 1)
        assert len(lists[0].shape) < 3 or named["w"].dtype is F32


OF_LAYOUTS = WIDE.replace("ranks: [2, 3]", "ranks: [2, 3]\n    dtypes: [float32, float16]").replace(
    "i: [G]}}", "i: [G]}, dtypes: [[float16, float16, int32, float16]], families: [symmetric-small, asymmetric-small], values: {i: [[1, 1]]}}"
)


def test_dtypes_families_and_ranges_of_a_layout_go_with_its_shapes(tmp_path: Path) -> None:
    operator = wide_operator(tmp_path)
    (tmp_path / "rules.yaml").write_text(OF_LAYOUTS)
    cases = generate_cases(SUITE, SuiteOperator(operator=operator, cases=()), 5, 20)[0]
    short = [case for case in cases if case.omitted]
    assert len(short) >= 3
    for case in cases:
        named = {item.argument: item for item in case.inputs}
        assert named["w"].dtype in ((F16,) if case.omitted else (F32, F16))
        assert (named["i"].low, named["i"].high) == ((1, 1) if case.omitted else (0, named["w"].shape[1] - 1))
    assert {case.note.rpartition(" | ")[2] for case in short} <= {"symmetric-small", "asymmetric-small"}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("dtypes: [float32, ", "dtypes: [float31, ", "unknown element type"),
        ("dtypes: [float32, ", "dtypes: [[float32], ", "number of dtypes"),
        ("[symmetric-small, asym", "[small, asym", "unknown family 'small'"),
        ("values: {i: [[1, 1]]}", "values: {bias: [[1, 1]]}", "unknown input 'bias'"),
        ("values: {i: [[1, 1]]}", "values: {i: [[1, Q]]}", "unknown name 'Q'"),
        ("rules:", "rules:\n  dtypes: [float32]", "no dtypes for a layout"),
    ],
)
def test_a_mistake_in_what_goes_with_a_layout_is_one_error_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    operator = wide_operator(tmp_path)
    assert old in OF_LAYOUTS
    (tmp_path / "rules.yaml").write_text(OF_LAYOUTS.replace(old, new, 1))
    with pytest.raises(FormatError, match=r"rules\.yaml:") as raised:
        read_rules(tmp_path, operator)
    assert problem in str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("groups: {value: G}", "groups: {value: Q}", "unknown name 'Q'"),
        ("groups: {value: G}, ", "", "no values for attribute 'groups'"),
        ("k: {low: 2, high: 5,", "k: {low: 1,", "exactly one of"),
        ("k: {low: 2, high: 5,", "k: {low: 5, high: 1,", "smaller end first"),
        ("mode: {choices: [sum, mean]}", "mode: {choices: [1]}", "mode"),
        ("w: [G, H]", "w: [G, ...]", "not at the front"),
        ("w: [G, H], i: [G], bias", "w: [G, H], bias", "no shape for input 'i'"),
        ("ranks: [2, 3]", "ranks: [2, 9]", "ranks out of range"),
        ("axes: {G:", "axes: {Z: {low: 2}, G:", "unknown axis 'Z'"),
        ("size: {value: [2 * O, G]}", "size: {value: [2 * O, Q]}", "unknown name 'Q'"),
        ("when: G > 2", "when: Q > 2", "unknown name 'Q'"),
        ("values: {i:", "values: {j:", "unknown input 'j'"),
        ("require: [rank", "require: [open(G), rank", "not allowed"),
        ("list_length", "list_lengths", "unknown key"),
        ("rules:", "rule:", "no rules here"),
        ("low: 33, high: 4000", "low: 33, high: 32", "smaller end first"),
    ],
)
def test_a_mistake_in_the_rules_is_one_error_with_its_place(tmp_path: Path, old: str, new: str, problem: str) -> None:
    operator = wide_operator(tmp_path)
    assert old in WIDE
    (tmp_path / "rules.yaml").write_text(WIDE.replace(old, new))
    with pytest.raises(FormatError, match=r"rules\.yaml:") as raised:
        read_rules(tmp_path, operator)
    assert problem in str(raised.value)


def test_rules_that_leave_no_case_say_which_slot(tmp_path: Path) -> None:
    operator = wide_operator(tmp_path)
    (tmp_path / "rules.yaml").write_text(WIDE.replace("G * H < 20000", "G * H < 2").replace("G * H < 20000", "G * H < 2"))
    with pytest.raises(UsageError, match="leave no case for slot 1"):
        generate_cases(SUITE, SuiteOperator(operator=operator, cases=()), 5)
