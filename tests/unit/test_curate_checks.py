"""Does each structural check find exactly the fault that it is named for? Every check has a broken operator that turns it, and nothing else, red."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from piton.catalog.description import CodeBlock
from piton.catalog.golden_source import NO_DEFAULT, FunctionSource, GoldenSource
from piton.catalog.proto import Degenerate
from piton.core.case import Case
from piton.core.dtype import DType
from piton.curate.aspects import families, is_non_aligned
from piton.curate.checks import NUMERIC, READABLE, STRUCTURAL
from piton.curate.draw import note_of
from piton.curate.lint import check_structure, load_subjects, measure
from piton.curate.violation import Subject
from piton.numerics.thresholds import relaxation_cap

SUBJECTS = {subject.operator.name: subject for subject in load_subjects("piton")[1]}
EXP, RMS_NORM = SUBJECTS["exp"], SUBJECTS["rms_norm"]
ENDS = tuple[float, float]


def noted(case: Case) -> Case:
    """The case with a note that is true."""
    family = min(families(case.inputs[0]), key=lambda name: name != "dtype-boundary")
    return case.model_copy(update={"note": note_of(case, case.inputs[0].dtype, family)})


def with_shape(case: Case, shape: tuple[int, ...], position: int = 0) -> Case:
    inputs = list(case.inputs)
    inputs[position] = inputs[position].model_copy(update={"shape": shape})
    return noted(case.model_copy(update={"inputs": tuple(inputs)}))


def with_range(case: Case, low: float, high: float) -> Case:
    first = case.inputs[0].model_copy(update={"low": low, "high": high})
    return noted(case.model_copy(update={"inputs": (first, *case.inputs[1:])}))


def changed(subject: Subject, edits: dict[str, Callable[[Case], Case]]) -> Subject:
    return replace(subject, cases=tuple(edits.get(case.id, lambda item: item)(case) for case in subject.cases))


def every(subject: Subject, edit: Callable[[Case], Case]) -> Subject:
    return replace(subject, cases=tuple(edit(case) for case in subject.cases))


def operator(subject: Subject, **fields: object) -> Subject:
    return replace(subject, operator=subject.operator.model_copy(update=fields))


def described(subject: Subject, **fields: object) -> Subject:
    assert subject.description is not None
    return replace(subject, description=replace(subject.description, **fields))


def golden(subject: Subject, *more: FunctionSource, without: str = "", seeds: tuple[int, ...] = ()) -> Subject:
    assert subject.golden is not None
    kept = tuple(item for item in subject.golden.functions if item.name != without)
    return replace(subject, golden=GoldenSource((*kept, *more), seeds))


def no_artifact(scratch: Path) -> Subject:
    folder = scratch / "exp"
    shutil.copytree(EXP.folder, folder)
    (folder / "cases.csv").unlink()
    return replace(EXP, folder=folder)


def swapped_arguments(_: Path) -> Subject:
    return golden(EXP, FunctionSource("exp", 1, ("x", "scale", "base", "shift"), (NO_DEFAULT, 1.0, -1.0, 0.0), False), without="exp")


def other_default(_: Path) -> Subject:
    return golden(EXP, FunctionSource("exp", 1, ("x", "base", "scale", "shift"), (NO_DEFAULT, -1.0, 2.0, 0.0), False), without="exp")


def no_golden_function(_: Path) -> Subject:
    return golden(EXP, without="exp")


def greedy_builder(_: Path) -> Subject:
    return golden(EXP, FunctionSource("get_input", 9, ("x", "seed", "flavour"), (NO_DEFAULT, NO_DEFAULT, NO_DEFAULT), False))


def written_seed(_: Path) -> Subject:
    return golden(EXP, seeds=(12,))


def index_into_nothing(_: Path) -> Subject:
    return operator(EXP, outputs=(EXP.operator.outputs[0].model_copy(update={"indexes": "nothing"}),))


def axis_of_a_float(_: Path) -> Subject:
    return operator(EXP, outputs=(EXP.operator.outputs[0].model_copy(update={"indexes": "x", "index_axis": "scale"}),))


def loose_threshold(_: Path) -> Subject:
    return operator(EXP, thresholds={DType.FLOAT32: 1.01 * relaxation_cap(DType.FLOAT32)})


def sections_out_of_order(_: Path) -> Subject:
    assert EXP.description is not None
    return described(EXP, sections=tuple(reversed(EXP.description.sections)))


def no_schema(_: Path) -> Subject:
    assert EXP.description is not None
    return described(EXP, text=EXP.description.text.replace(EXP.operator.schema_text, "exp(x, base, scale, shift)"))


def unnamed_argument(_: Path) -> Subject:
    assert EXP.description is not None
    return replace(described(EXP, text=EXP.description.text.replace("shift", "offset")), is_own=False)


def broken_example(_: Path) -> Subject:
    return described(EXP, blocks=(CodeBlock("python", "y = (x\n", 70),))


def example_with_another_name(_: Path) -> Subject:
    return described(EXP, blocks=(CodeBlock("python", "y = cann_bench.exp(x, basis=2.0)\n", 70),))


def no_example(_: Path) -> Subject:
    return described(EXP, blocks=())


def sibling_of_another_dtype(_: Path) -> Subject:
    return replace(EXP, degenerate=(Degenerate(case="14", impostors=("mean",), sibling="1", reason="none"),))


def three_degenerate_cases(_: Path) -> Subject:
    return replace(EXP, degenerate=tuple(Degenerate(case=case, impostors=("mean",), sibling="2", reason="none") for case in ("4", "7", "14")))


def unknown_impostor(_: Path) -> Subject:
    return replace(EXP, degenerate=(Degenerate(case="14", impostors=("wish",), sibling="2", reason="none"),))


def degenerate_nobody(_: Path) -> Subject:
    return replace(EXP, degenerate=(Degenerate(case="99", impostors=("mean",), sibling="2", reason="none"),))


def twenty_first(_: Path) -> Subject:
    return changed(EXP, {"20": lambda case: case.model_copy(update={"id": "21"})})


def forbidden_dtype(_: Path) -> Subject:
    return operator(EXP, inputs=(EXP.operator.inputs[0].model_copy(update={"dtypes": (DType.FLOAT16, DType.FLOAT32)}),))


def same_elements(_: Path) -> Subject:
    return changed(EXP, {"3": lambda case: with_shape(case, (1000033,))})


def same_attributes(_: Path) -> Subject:
    return changed(EXP, {"2": lambda case: case.model_copy(update={"attributes": EXP.cases[0].attributes})})


def same_range(_: Path) -> Subject:
    return changed(EXP, {"2": lambda case: with_range(case, -1, 1)})


def too_few_elements(_: Path) -> Subject:
    return changed(EXP, {"3": lambda case: with_shape(case, (999_983,))})


def nothing_large(_: Path) -> Subject:
    return changed(EXP, {"20": lambda case: with_shape(case, (89, 1009, 173))})


def widened(case: Case) -> Case:
    shape = case.inputs[0].shape
    return with_shape(case, (*shape[:-1], -(-shape[-1] // 512) * 512))


def mostly_aligned(_: Path) -> Subject:
    return changed(EXP, dict.fromkeys(("2", "4", "5", "6", "8", "9"), widened))


def without_primes(case: Case) -> Case:
    return with_shape(case, tuple(size + size % 2 for size in case.inputs[0].shape)) if is_non_aligned(case) else case


def no_primes(_: Path) -> Subject:
    return every(EXP, without_primes)


def odd_side_tensor(_: Path) -> Subject:
    return changed(RMS_NORM, {"1": lambda case: with_shape(case, (769,), position=1)})


def flattened(case: Case) -> Case:
    first, second, *rest = (*case.inputs[0].shape, 1)
    shape = (first * second, *rest[:-1])
    return with_shape(case, shape) if len(case.inputs[0].shape) == 5 else case


def no_rank_five(_: Path) -> Subject:
    return every(EXP, flattened)


def tilted(case: Case) -> Case:
    item = case.inputs[0]
    return with_range(case, item.low, item.high * 0.99) if "symmetric-small" in families(item) else case


def nothing_symmetric(_: Path) -> Subject:
    return every(EXP, tilted)


def nothing_at_the_boundary(_: Path) -> Subject:
    ends: dict[str, ENDS] = {"9": (-50, 50), "10": (-51, 51), "11": (-52, 52), "18": (-53, 53)}
    return changed(EXP, {name: lambda case, pair=pair: with_range(case, *pair) for name, pair in ends.items()})


def nothing_special(_: Path) -> Subject:
    return changed(EXP, {"12": lambda case: with_range(case, -7, 7), "13": lambda case: with_range(case, -6, 6)})


def levelled(case: Case) -> Case:
    low, high = case.inputs[0].low, case.inputs[0].high
    end = max(abs(low), abs(high)) + int(case.id) / 100
    return with_range(case, -end, end) if math.isfinite(end) and low != -high else case


def nothing_asymmetric(_: Path) -> Subject:
    return every(EXP, levelled)


def unused_dtype(_: Path) -> Subject:
    return operator(EXP, inputs=(EXP.operator.inputs[0].model_copy(update={"dtypes": (*EXP.operator.inputs[0].dtypes, DType.FLOAT64)}),))


def no_edge_of_bfloat16(_: Path) -> Subject:
    return changed(EXP, {"11": lambda case: with_range(case, -5.5, 5.5), "12": lambda case: with_range(case, -7, 7)})


def false_note(_: Path) -> Subject:
    return changed(EXP, {"1": lambda case: case.model_copy(update={"note": "small | float16 | aligned | symmetric-large"})})


def low_ceiling(_: Path) -> Subject:
    return replace(EXP, memory_ceiling_bytes=1 << 30)


def not_hidden_at_all(_: Path) -> Subject:
    return replace(EXP, origin="hidden", degenerate=(), public=(EXP.cases[4],))


BROKEN: list[tuple[str, Callable[[Path], Subject]]] = [
    ("artifacts", no_artifact),
    ("golden-signature", swapped_arguments),
    ("golden-signature", other_default),
    ("golden-signature", no_golden_function),
    ("input-builder", greedy_builder),
    ("fixed-seed", written_seed),
    ("index-rule", index_into_nothing),
    ("index-rule", axis_of_a_float),
    ("thresholds", loose_threshold),
    ("desc-sections", sections_out_of_order),
    ("desc-schema", no_schema),
    ("desc-names", unnamed_argument),
    ("desc-code", broken_example),
    ("desc-code", example_with_another_name),
    ("desc-code", no_example),
    ("degenerate-list", sibling_of_another_dtype),
    ("degenerate-list", three_degenerate_cases),
    ("degenerate-list", unknown_impostor),
    ("degenerate-list", degenerate_nobody),
    ("case-ids", twenty_first),
    ("allowed-dtypes", forbidden_dtype),
    ("unique-elements", same_elements),
    ("unique-attributes", same_attributes),
    ("unique-range", same_range),
    ("element-range", too_few_elements),
    ("size-classes", nothing_large),
    ("non-aligned", mostly_aligned),
    ("prime-bias", no_primes),
    ("side-tensor", odd_side_tensor),
    ("ranks", no_rank_five),
    ("symmetric-small", nothing_symmetric),
    ("boundary", nothing_at_the_boundary),
    ("special-values", nothing_special),
    ("range-variety", nothing_asymmetric),
    ("dtype-coverage", unused_dtype),
    ("dtype-edges", no_edge_of_bfloat16),
    ("note", false_note),
    ("memory-ceiling", low_ceiling),
    ("no-overlap", not_hidden_at_all),
]


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_an_operator_of_ours_breaks_no_structural_rule(subject: Subject) -> None:
    assert check_structure(subject) == []


@pytest.mark.parametrize(("check", "broken"), BROKEN, ids=[f"{check}-{broken.__name__}" for check, broken in BROKEN])
def test_a_broken_operator_turns_exactly_its_check_red(tmp_path: Path, check: str, broken: Callable[[Path], Subject]) -> None:
    violations = check_structure(broken(tmp_path))
    assert {item.check for item in violations} == {check}
    assert all(item.problem and item.where and item.operator for item in violations)


def test_a_case_that_repeats_another_whole_is_named_with_all_it_repeats() -> None:
    gelu = SUBJECTS["gelu"]
    repeated = gelu.cases[0].model_copy(update={"id": "2"})
    found = check_structure(replace(gelu, cases=(gelu.cases[0], repeated, *gelu.cases[2:]), degenerate=()))
    assert {item.check for item in found} == {"unique-elements", "unique-range", "unique-case"}
    assert {item.case for item in found} == {"2"}


def test_every_structural_check_has_a_broken_operator() -> None:
    assert {check for check, _ in BROKEN} | {"unique-case"} == {check.name for check in STRUCTURAL}


def test_a_violation_names_the_line_of_its_case() -> None:
    (found,) = check_structure(same_range(Path()))
    assert found.case == "2"
    assert found.where == f"{EXP.folder / 'cases.csv'}:3"


def test_the_measures_count_operators_as_the_paper_does() -> None:
    few = measure([changed(EXP, {"2": lambda case: with_range(case, -1, 1)}), nothing_special(Path()), mostly_aligned(Path()), too_few_elements(Path())])
    assert (few.operators, few.cases, few.unique_ranges, few.without_special_values) == (4, 80, 3, 1)
    assert (few.few_non_aligned, few.too_small_cases, few.too_large_cases) == (1, 1, 0)


def test_a_folder_that_cannot_be_read_is_one_violation_and_the_others_are_checked(tmp_path: Path) -> None:
    for name in ("exp", "foreach_norm", "gelu"):
        shutil.copytree(EXP.folder.parent / name, tmp_path / "suite" / "level1" / name)
    shutil.copy(EXP.folder.parents[1] / "suite.yaml", tmp_path / "suite")
    proto = tmp_path / "suite" / "level1" / "exp" / "proto.yaml"
    proto.write_text(proto.read_text().replace("name: base\n", "name: basis\n"))
    _, subjects, unread = load_subjects(str(tmp_path / "suite"))
    assert [(item.check, item.operator) for item in unread] == [(READABLE.name, "exp")]
    assert [subject.operator.name for subject in subjects] == ["foreach_norm", "gelu"]
    assert [check_structure(subject) for subject in subjects] == [[], []]


def test_the_documentation_lists_every_check_with_its_severity_and_rule() -> None:
    text = (Path(__file__).parents[2] / "docs" / "lint.md").read_text()
    for check in (READABLE, *STRUCTURAL, *NUMERIC):
        assert f"| `{check.name}` | {check.severity.value} | {check.rule} |" in text
