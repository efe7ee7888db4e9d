"""Are traces made once, kept by content, and their failures never another baseline?"""

from __future__ import annotations

from pathlib import Path

import pytest

from piton.catalog.eager_constants import load_eager_constants
from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput
from piton.core.dtype import DType
from piton.core.eager import EagerTrace, Launch, TensorForm
from piton.core.errors import EvaluatorError
from piton.core.interval import Interval, IntervalKind
from piton.core.measurement import Anchor, AnchorKind, Provenance
from piton.core.operator import Operator
from piton.core.score import ScoreProfile
from piton.evaluate import golden_replies
from piton.evaluate.baseline_sources import BaselineSources
from piton.evaluate.cache import ValueStore
from piton.evaluate.eager import EagerBaselines, TraceBook
from piton.evaluate.policy import Bounds
from piton.evaluate.timing import AnchorBook, CaseAnchors

CHIP = load_hardware("ascend910b2")
CASE = Case(operator="op", id="1", inputs=(CaseInput(argument="x", shape=(8,), dtype=DType.FLOAT32),))
FORM = TensorForm(shape=(8,), element_bits=32, dtype="float32", distinct=8)
TRACE = EagerTrace(launches=(Launch(operation="aten.exp.default", reads=(FORM,), writes=(FORM,)),), outputs=(FORM,))


def operator(digest: str = "a") -> Operator:
    return Operator(name="op", title="Op", level=1, category="", schema_text="op(Tensor x) -> Tensor y", inputs=(), outputs=(), golden_digest=digest)


class Maker:
    """Makes a trace, or fails, and counts."""

    def __init__(self, error: EvaluatorError | None = None) -> None:
        self.made = 0
        self.is_closed = False
        self._error = error

    def trace(self, _operator: Operator, _case: Case) -> EagerTrace:
        self.made += 1
        if self._error is not None:
            raise self._error
        return TRACE

    def close(self) -> None:
        self.is_closed = True


def model(book: TraceBook) -> EagerBaselines:
    constants = load_eager_constants(CHIP.name)
    assert constants is not None
    return EagerBaselines(book, constants, CHIP)


def test_a_trace_is_made_once_and_kept_for_later_runs(tmp_path: Path) -> None:
    first, later = Maker(), Maker()
    assert TraceBook(ValueStore(tmp_path), "1", first).trace(operator(), CASE) == TRACE
    assert TraceBook(ValueStore(tmp_path), "1", later).trace(operator(), CASE) == TRACE
    assert TraceBook(ValueStore(tmp_path), "1", None).trace(operator(), CASE) == TRACE
    assert (first.made, later.made) == (1, 0)


@pytest.mark.parametrize(
    ("digest", "case", "version"),
    [("b", CASE, "1"), ("a", CASE.model_copy(update={"attributes": {"dim": 1}}), "1"), ("a", CASE, "2")],
    ids=["another golden", "another case", "another suite version"],
)
def test_what_a_trace_depends_on_is_part_of_its_name(tmp_path: Path, digest: str, case: Case, version: str) -> None:
    TraceBook(ValueStore(tmp_path), "1", Maker()).trace(operator(), CASE)
    maker = Maker()
    TraceBook(ValueStore(tmp_path), version, maker).trace(operator(digest), case)
    assert maker.made == 1


def test_where_golden_py_lies_is_not_part_of_it(tmp_path: Path) -> None:
    TraceBook(ValueStore(tmp_path), "1", Maker()).trace(operator(), CASE)
    maker = Maker()
    TraceBook(ValueStore(tmp_path), "1", maker).trace(operator().model_copy(update={"golden_path": "elsewhere/golden.py"}), CASE)
    assert maker.made == 0


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    TraceBook(ValueStore(tmp_path), "1", Maker()).trace(operator(), CASE)
    (entry,) = tmp_path.glob("*.json")
    entry.write_text('{"launches": 5}')
    maker = Maker()
    assert TraceBook(ValueStore(tmp_path), "1", maker).trace(operator(), CASE) == TRACE
    assert maker.made == 1


def test_without_a_maker_nothing_runs_and_nothing_is_known(tmp_path: Path) -> None:
    assert model(TraceBook(ValueStore(tmp_path), "1", None))(operator(), CASE) is None


def test_traces_of_hidden_cases_are_not_written_down() -> None:
    maker = Maker()
    book = TraceBook(None, "1", maker)
    assert [book.trace(operator(), CASE) for _ in range(2)] == [TRACE, TRACE]
    assert maker.made == 2


def test_a_golden_worker_that_fails_leaves_the_case_open_and_nothing_stands_in_for_its_baseline(tmp_path: Path) -> None:
    maker = Maker(EvaluatorError("the golden worker died", found="no message"))
    found = model(TraceBook(ValueStore(tmp_path), "1", maker))
    quoted = Anchor(kind=AnchorKind.T_BASELINE, value_us=9.0, provenance=Provenance.QUOTED, method="published")
    for _ in range(2):
        with pytest.raises(EvaluatorError, match="could not be traced: the golden worker died"):
            BaselineSources(modelled=found).choose(operator(), CASE, quoted, ScoreProfile.SIM)
    assert maker.made == 1, "one time limit is enough"
    assert not list(tmp_path.glob("*.json"))  # the next run may do better


def test_a_golden_worker_that_fails_is_a_reason_for_who_asks(tmp_path: Path) -> None:
    found = model(TraceBook(ValueStore(tmp_path), "1", Maker(EvaluatorError("the golden worker died", found="no message"))))
    assert found.view(operator(), CASE) is None
    assert found.refusal(operator(), CASE) == "the golden could not be traced: the golden worker died (no message)"


def test_a_golden_that_can_not_be_traced_leaves_the_baseline_to_the_next_source() -> None:
    class Refusing(Maker):
        def trace(self, _operator: Operator, _case: Case) -> EagerTrace:
            return EagerTrace(refusal="the golden starts more than 4096 operators")

    quoted = Anchor(kind=AnchorKind.T_BASELINE, value_us=9.0, provenance=Provenance.QUOTED, method="published")
    chosen = BaselineSources(modelled=model(TraceBook(None, "1", Refusing()))).choose(operator(), CASE, quoted, ScoreProfile.SIM).anchor
    assert chosen is not None
    assert chosen.value_us == 9.0


def test_where_there_is_a_price_nothing_was_refused() -> None:
    assert model(TraceBook(None, "1", Maker())).refusal(operator(), CASE) == ""
    assert model(TraceBook(None, "1", None)).refusal(operator(), CASE) == ""


def test_the_model_answers_only_where_no_plain_kernel_was_simulated() -> None:
    maker = Maker()
    known = Anchor(kind=AnchorKind.T_BASELINE, value_us=7.0, provenance=Provenance.SIMULATED, method="plain")
    quoted = Anchor(kind=AnchorKind.T_BASELINE, value_us=9.0, provenance=Provenance.QUOTED, method="published")

    class Simulated:
        version = "plain kernels"

        def __init__(self, found: Anchor | None) -> None:
            self.found = found

        def anchor(self, _operator: Operator, _case: Case) -> Anchor | None:
            return self.found

    def chosen(simulated: Anchor | None, profile: ScoreProfile) -> Anchor | None:
        sources = BaselineSources(simulated=Simulated(simulated), modelled=model(TraceBook(None, "1", maker)))  # type: ignore[arg-type]
        return sources.choose(operator(), CASE, quoted, profile).anchor

    assert chosen(known, ScoreProfile.SIM) == known
    assert maker.made == 0
    found = chosen(None, ScoreProfile.SIM)
    assert found is not None
    assert found.provenance is Provenance.MODELLED


def test_the_view_names_every_term_and_every_launch() -> None:
    view = model(TraceBook(None, "1", Maker())).view(operator(), CASE)
    assert view is not None
    assert sum(view.terms_us.values()) == pytest.approx(view.anchor.value_us)
    assert [(item.operation, item.kind, item.count, item.read_bytes, item.write_bytes) for item in view.golden] == [
        ("aten.exp.default", "elementwise", 1, 32, 32)
    ]


def test_closing_the_model_ends_what_makes_its_traces() -> None:
    maker = Maker()
    BaselineSources(modelled=model(TraceBook(None, "1", maker))).close()
    assert maker.is_closed


def test_a_call_is_cut_off_by_the_upper_end_of_a_modelled_baseline() -> None:
    """1.8 GHz: 10 ms are 18e6 cycles, and what it may truly be, up to 20 ms, 36e6; a call may take 100 times as many."""
    bounds = Bounds(budget_ratio=100.0, budget_floor_cycles=1, budget_ceiling_cycles=10**12)
    book = AnchorBook(CHIP, ScoreProfile.SIM, {}, BaselineSources(), bounds)
    rough = Interval(low=5_000.0, high=20_000.0, kind=IntervalKind.MODEL_ERROR, confidence=0.9)
    for provenance, expected in ((Provenance.MODELLED, 36_000_000), (Provenance.SIMULATED, 18_000_000)):
        anchor = Anchor(kind=AnchorKind.T_BASELINE, value_us=10_000.0, provenance=provenance, method="test", interval=rough)
        assert book.budget_cycles(CaseAnchors(None, anchor)) == pytest.approx(100 * expected, rel=1e-9)


@pytest.mark.parametrize(("text", "problem"), [(b"", "no trace"), (b'{"launches": 5}', "no trace"), (b" " * ((16 << 20) + 1), "too long")])
def test_what_a_worker_writes_in_place_of_a_trace_is_an_error_of_ours(text: bytes, problem: str) -> None:
    with pytest.raises(EvaluatorError, match=problem):
        golden_replies.parse_trace(text, "op/1")
