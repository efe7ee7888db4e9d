"""T_baseline by simulation and the budget that follows from it, on the null target."""

from pathlib import Path

import pytest

from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.errors import EvaluatorError
from piton.core.execution import CaseCall
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import AttrSpec, Operator, TensorSpec
from piton.core.score import ScoreProfile
from piton.core.submission import Manifest, OperatorSources, Submission
from piton.evaluate.arguments import all_attributes, argument_order
from piton.evaluate.assemble import submission_name
from piton.evaluate.baseline_sources import BaselineSources
from piton.evaluate.baselines import KnownBaselines, SimulatedBaselines, timing_call
from piton.evaluate.build import Workplace
from piton.evaluate.cache import ValueStore
from piton.evaluate.policy import Bounds, EvaluationRequest
from piton.evaluate.progress import ignore
from piton.evaluate.timing import AnchorBook, CaseAnchors
from piton.targets.null import NullDevice, NullSession, NullTarget

OPERATOR = Operator(
    name="grow",
    title="Grow",
    level=1,
    category="Elementwise",
    schema_text="grow(Tensor x, float base=-1.0, Tensor? bias=None, *, int k=3) -> Tensor y",
    inputs=(TensorSpec(name="x", dtypes=(DType.FLOAT32,)), TensorSpec(name="bias", dtypes=(DType.FLOAT32,), is_optional=True)),
    outputs=(TensorSpec(name="y", dtypes=(DType.FLOAT32,)),),
    attributes=(AttrSpec(name="base", type="float", default=-1.0), AttrSpec(name="k", type="int", default=3)),
)
CASE = Case(operator="grow", id="1", inputs=(CaseInput(argument="x", shape=(4,), dtype=DType.FLOAT32),), attributes={"k": 5}, omitted=("bias",))


class CountingTarget(NullTarget):
    """Counts the calls of its sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[CaseCall] = []
        self.device = self

    def missing(self) -> tuple[str, ...]:
        return ()

    def open(self, *arguments: object) -> NullSession:
        session = NullDevice().open(*arguments)
        calls, inner = self.calls, session.call
        session.call = lambda call: (calls.append(call), inner(call))[1]  # type: ignore[method-assign]
        return session


def baselines(target: NullTarget, tmp_path: Path, script: str) -> SimulatedBaselines:
    (tmp_path / "null.yaml").write_text(script)
    sources = (OperatorSources(operator="grow", kernels=("k.cpp",), plugins=()),)
    submission = Submission(root=str(tmp_path), manifest=Manifest(name=script), files=(), operators=sources)
    place = Workplace(target=target, runner=None, run_dir=tmp_path / "run", events=ignore)  # type: ignore[arg-type]
    return SimulatedBaselines(place, submission, ValueStore(tmp_path / "store"))


def test_a_baseline_is_timed_without_data_and_says_what_it_is(tmp_path: Path) -> None:
    target = CountingTarget()
    anchor = baselines(target, tmp_path, "operators: {grow: {default: {time_us: 33.5}}}").anchor(OPERATOR, CASE)
    assert (anchor.kind, anchor.value_us, anchor.provenance) == (AnchorKind.T_BASELINE, 33.5, Provenance.SIMULATED)
    assert "v0" in anchor.method
    assert [(call.is_timing_only, call.tensors[0].data, call.attributes) for call in target.calls] == [(True, None, {"base": -1.0, "k": 5})]


def test_a_known_baseline_is_not_run_again_and_another_build_is(tmp_path: Path) -> None:
    target = CountingTarget()
    for script, calls in (("time_us: 33.5", 1), ("time_us: 33.5", 1), ("time_us: 44.0", 2)):
        found = baselines(target, tmp_path, f"operators: {{grow: {{default: {{{script}}}}}}}").anchor(OPERATOR, CASE)
        assert (found.value_us, len(target.calls)) == (float(script.split()[1]), calls)


def test_a_simulated_baseline_is_found_in_the_cache_and_never_run_to_be_found(tmp_path: Path) -> None:
    target = CountingTarget()
    simulated = baselines(target, tmp_path, "operators: {grow: {default: {time_us: 33.5}}}")
    known = KnownBaselines(target, simulated._submission, ValueStore(tmp_path / "store"), tmp_path / "scratch")
    assert (known.anchor(OPERATOR, CASE), len(target.calls)) == (None, 0)
    anchor = simulated.anchor(OPERATOR, CASE)
    assert (known.anchor(OPERATOR, CASE), len(target.calls)) == (anchor, 1)
    assert known.anchor(OPERATOR, CASE.model_copy(update={"attributes": {"k": 6}})) is None


def test_without_a_compiler_no_simulated_baseline_is_known(tmp_path: Path) -> None:
    target = NullTarget()
    simulated = baselines(target, tmp_path, "operators: {grow: {default: {time_us: 33.5}}}")
    simulated.anchor(OPERATOR, CASE)
    target.toolchain.missing = lambda: ("g++",)  # type: ignore[method-assign]
    assert KnownBaselines(target, simulated._submission, ValueStore(tmp_path / "store"), tmp_path / "scratch").anchor(OPERATOR, CASE) is None


def test_another_case_has_its_own_baseline(tmp_path: Path) -> None:
    target = CountingTarget()
    known = baselines(target, tmp_path, "operators: {grow: {default: {time_us: 33.5}}}")
    known.anchor(OPERATOR, CASE)
    known.anchor(OPERATOR, CASE.model_copy(update={"attributes": {"k": 6}}))
    assert len(target.calls) == 2


def test_another_default_of_an_attribute_that_the_case_leaves_out_has_its_own_baseline(tmp_path: Path) -> None:
    target = CountingTarget()
    known = baselines(target, tmp_path, "operators: {grow: {default: {time_us: 33.5}}}")
    attributes = (AttrSpec(name="base", type="float", default=2.0), OPERATOR.attributes[1])
    for operator in (OPERATOR, OPERATOR.model_copy(update={"attributes": attributes})):
        known.anchor(operator, CASE)
    assert [call.attributes["base"] for call in target.calls] == [-1.0, 2.0]


@pytest.mark.parametrize("script", ["default: {causes: [deadlock], message: stuck}", "build: compile_error, build_message: stuck"])
def test_a_baseline_that_fails_is_our_mistake(tmp_path: Path, script: str) -> None:
    with pytest.raises(EvaluatorError, match=r"the baseline .*stuck"):
        baselines(NullTarget(), tmp_path, f"operators: {{grow: {{{script}}}}}").anchor(OPERATOR, CASE)


def test_an_operator_without_a_baseline_has_none(tmp_path: Path) -> None:
    other = OPERATOR.model_copy(update={"name": "shrink"})
    assert baselines(NullTarget(), tmp_path, "operators: {}").anchor(other, CASE) is None


def test_the_budget_is_a_multiple_of_the_baseline_between_floor_and_ceiling() -> None:
    bounds = Bounds(budget_ratio=100, budget_floor_cycles=1000, budget_ceiling_cycles=1_000_000)
    book = AnchorBook(NullTarget().hardware, ScoreProfile.SIM, {}, BaselineSources(), bounds)

    def budget(value_us: float | None) -> int:
        anchor = Anchor(kind=AnchorKind.T_BASELINE, value_us=value_us, provenance=Provenance.SIMULATED, method="m") if value_us else None
        return book.budget_cycles(CaseAnchors(None, anchor))

    # 1 us is 1000 cycles at the null target's 1 GHz
    assert [budget(value) for value in (0.001, 0.5, 50.0, None)] == [1000, 50_000, 1_000_000, 1_000_000]


def test_arguments_follow_the_schema_and_defaults_are_filled_in() -> None:
    assert argument_order(OPERATOR) == ("x", "base", "bias", "k")
    assert all_attributes(OPERATOR, CASE) == {"base": -1.0, "k": 5}
    assert timing_call(OPERATOR, CASE).omitted == ("bias",)


def test_the_roof_of_a_case_that_leaves_attributes_to_their_defaults_is_that_of_the_defaults() -> None:
    defaults = {"base": -1.0, "scale": 1.0, "shift": 0.0}
    exp = OPERATOR.model_copy(update={"name": "exp", "attributes": tuple(AttrSpec(name=name, type="float", default=value) for name, value in defaults.items())})
    book = AnchorBook(NullTarget().hardware, ScoreProfile.SIM, {}, BaselineSources(), Bounds())
    given, left_out = (CASE.model_copy(update={"operator": "exp", "attributes": attributes}) for attributes in (defaults, {}))
    assert book.of(exp, left_out).t_hw == book.of(exp, given).t_hw is not None


BASE = EvaluationRequest(submission="a", run_dir="b", cache_dir="c")


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"trials": 2},
        {"precision_profile": "cann-bench"},
        {"auto_sync": False},
        {"bounds": Bounds(budget_ratio=9)},
        {"bounds": Bounds(copy_allowance_bytes=1)},
        {"bounds": Bounds(host_deadline_s=5.0)},
        {"isolation": 3},
    ],
)
def test_what_can_change_a_result_is_in_the_identity_of_a_request(change: dict[str, object]) -> None:
    assert BASE.model_copy(update=change).identity() != BASE.identity()


def test_jobs_folders_and_filters_are_not_in_the_identity_of_a_request() -> None:
    assert BASE.model_copy(update={"jobs": 2, "run_dir": "x", "cache_dir": "y", "cases": ("1",)}).identity() == BASE.identity()


@pytest.mark.parametrize("given", [".", "../mine", "../mine/"])
def test_a_submission_without_a_name_is_called_by_its_folder_however_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    bare = Submission(root="", manifest=Manifest(), files=())
    assert submission_name(bare, BASE.model_copy(update={"submission": given})) == "mine"
