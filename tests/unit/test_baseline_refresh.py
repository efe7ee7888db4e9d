"""Refreshing baselines: every case once, kept as it goes, one bad case alone, versions that follow one another; on fakes, never on hardware."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from piton.catalog import load_suite
from piton.catalog.baseline_file import baseline_text
from piton.core.case import Case
from piton.core.errors import EvaluatorError, FormatError, UsageError
from piton.core.execution import CaseCall, Execution
from piton.core.measurement import Anchor, AnchorKind, Measurement, Provenance
from piton.core.operator import Operator
from piton.evaluate.kept_times import SUFFIX, KeptTimes
from piton.evaluate.policy import EvaluationRequest
from piton.evaluate.refresh import CaseRefresh, Measured, Refreshed, finish, refresh_on
from piton.evaluate.refresh_request import Hooks, RefreshRequest, beside, check_out, next_version
from piton.targets.null import NullTarget


class Clock(NullTarget):
    """Every case takes as many microseconds as its number; `bad` cases fail, and the user stops it at the case `stops`."""

    def __init__(self, bad: tuple[str, ...] = (), stops: str = "") -> None:
        super().__init__()
        self.bad, self.stops = bad, stops
        self.called: list[str] = []
        self.sessions = 0
        self.device = self

    def missing(self) -> tuple[str, ...]:
        return ()

    def open(self, *_: object) -> Clock:
        self.sessions += 1
        return self

    def call(self, call: CaseCall) -> Execution:
        if call.case_id == self.stops:
            raise KeyboardInterrupt
        self.called.append(call.case_id)
        if call.case_id in self.bad:
            raise EvaluatorError("the device went away")
        return Execution(time=Measurement(samples=(float(call.case_id),), provenance=Provenance.SIMULATED, method="replay"))

    def close(self) -> None:
        return


def request(root: Path, name: str = "a.json", **changed: object) -> RefreshRequest:
    values = {"submission": "", "run_dir": "", "cache_dir": str(root / "cache"), "target": "null", "operators": ("exp",), "cases": ("1", "2", "3")}
    evaluation = EvaluationRequest(**{**values, **{key: value for key, value in changed.items() if key in EvaluationRequest.model_fields}})
    own = {key: value for key, value in changed.items() if key not in EvaluationRequest.model_fields}
    return RefreshRequest(evaluation=evaluation, out=root / name, **own)


def run(target: NullTarget, wanted: RefreshRequest, hooks: Hooks | None = None) -> Refreshed:
    return refresh_on(target, None, wanted, hooks or Hooks())  # type: ignore[arg-type] - the null target starts no process


def times(found: Refreshed) -> dict[str, float]:
    return {f"{item.operator}/{item.case}": item.time.value for item in found.baselines.cases}


def test_a_set_has_the_time_of_every_case_and_says_what_it_is_of(tmp_path: Path) -> None:
    heard: list[tuple[object, ...]] = []
    found = run(Clock(), request(tmp_path), Hooks(told=lambda *words: heard.append(words)))
    assert times(found) == {"exp/1": 1.0, "exp/2": 2.0, "exp/3": 3.0}
    assert heard == [(f"exp/{number}", f"{number}.00 us simulated", number, 3) for number in (1, 2, 3)]
    baselines = found.baselines
    assert (baselines.name, baselines.suite, baselines.target, baselines.hardware, baselines.toolchain) == ("piton-null", "piton", "null", "null", "a script")
    assert baselines.version.endswith(".1")
    assert baselines.content_digest == baselines.digest()


def test_one_bad_case_is_listed_and_costs_the_others_nothing(tmp_path: Path) -> None:
    target = Clock(bad=("2",))
    found = run(target, request(tmp_path))
    assert (times(found), list(found.baselines.failed)) == ({"exp/1": 1.0, "exp/3": 3.0}, ["exp/2"])
    assert "the device went away" in found.baselines.failed["exp/2"]
    assert target.sessions == 2, "the session in which a case failed is in no known state"


def test_a_refresh_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Clock(stops="3"), request(tmp_path))
    assert beside(tmp_path / "a.json", SUFFIX).is_file()
    assert not (tmp_path / "a.json").exists()
    target = Clock()
    found = run(target, request(tmp_path, cache_dir=str(tmp_path / "another cache")))
    assert (target.called, found.kept, times(found)) == (["3"], 2, {"exp/1": 1.0, "exp/2": 2.0, "exp/3": 3.0})
    finish(request(tmp_path))
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_what_another_chip_measured_is_not_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Clock(stops="3"), request(tmp_path))
    target = Clock()
    target.hardware = target.hardware.model_copy(update={"cores_aiv": 7})
    assert (run(target, request(tmp_path)).kept, target.called) == (0, ["1", "2", "3"])


def test_a_line_that_was_cut_short_is_measured_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Clock(stops="3"), request(tmp_path))
    part = beside(tmp_path / "a.json", SUFFIX)
    head, first, second = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(head + first + second[:-20])
    target = Clock()
    found = run(target, request(tmp_path, cache_dir=str(tmp_path / "another cache")))
    assert (target.called, times(found)) == (["2", "3"], {"exp/1": 1.0, "exp/2": 2.0, "exp/3": 3.0})


def test_a_time_that_was_changed_is_an_error_that_says_what_to_remove(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Clock(stops="3"), request(tmp_path))
    part = beside(tmp_path / "a.json", SUFFIX)
    part.write_bytes(part.read_bytes().replace(b"[1.0]", b"[7.0]"))
    with pytest.raises(FormatError, match=r"part:2: a line of the file is damaged"):
        run(Clock(), request(tmp_path))


def test_two_refreshes_of_one_file_do_not_mix(tmp_path: Path) -> None:
    with KeptTimes(beside(tmp_path / "a.json", SUFFIX)), pytest.raises(UsageError, match="another run"):
        run(Clock(), request(tmp_path))


def test_a_file_that_is_there_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    with pytest.raises(UsageError, match="there is a file already"):
        check_out(request(tmp_path))
    check_out(request(tmp_path, overwrites=True))
    check_out(request(tmp_path, "b.json"))


def test_versions_of_a_day_are_counted_in_the_folder_of_the_file(tmp_path: Path) -> None:
    found = run(Clock(), request(tmp_path, version="2026-11-30.9")).baselines
    assert found.version == "2026-11-30.9"
    (tmp_path / "first.json").write_text(baseline_text(found))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text(baseline_text(found.model_copy(update={"name": "other", "version": "2026-11-30.20"}).sealed()))
    assert next_version(tmp_path, found.name, "2026-11-30") == "2026-11-30.10"
    assert next_version(tmp_path, found.name, "2026-12-01") == "2026-12-01.1"
    assert next_version(tmp_path / "nowhere", found.name, "2026-11-30") == "2026-11-30.1"


def test_operators_without_a_kernel_are_modelled_where_there_is_a_model_and_named_where_there_is_none(tmp_path: Path) -> None:
    def modelled(operator: Operator, case: Case) -> Anchor | None:
        if case.id == "2":
            return None
        return Anchor(kind=AnchorKind.T_BASELINE, value_us=50.0, provenance=Provenance.MODELLED, method=f"eager {operator.name}")

    mish = load_suite("piton").member("mish")
    measured = Measured()
    with KeptTimes(tmp_path / "a.part") as kept:
        way = CaseRefresh(Clock(), None, kept, modelled)  # type: ignore[arg-type] - a model that is called and no more
        became = [way.run(mish.operator, case, measured) for case in mish.cases[:3]]
    assert became == ["50.00 us modelled", "no kernel, and the model does not know it", "50.00 us modelled"]
    assert [(item.operator, item.case, item.time.provenance) for item in measured.times] == [("mish", number, Provenance.MODELLED) for number in "13"]
    assert measured.lacking == ["mish/2"]
    assert not (tmp_path / "a.part").exists(), "the model is as quick as a file"


def test_types_that_the_chip_lacks_are_told_of_their_case(tmp_path: Path) -> None:
    target = Clock()
    used = {item.dtype for case in ("1",) for item in exp_case(case).inputs}
    target.hardware = target.hardware.model_copy(update={"absent_types": tuple(used)})
    found = run(target, request(tmp_path))
    assert "exp/1" in found.baselines.failed
    assert found.baselines.failed["exp/1"] == f"null has no {exp_case('1').inputs[0].dtype.value}"


def exp_case(number: str) -> Case:
    return next(case for case in load_suite("piton").member("exp").cases if case.id == number)


def test_without_any_time_there_is_no_file_but_a_reason(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case has a baseline") as error:
        run(Clock(bad=("1", "2", "3")), request(tmp_path))
    assert "the device went away" in error.value.found


def test_a_device_asks_for_the_kernels_to_measure(tmp_path: Path) -> None:
    target = Clock()
    target.provenance = Provenance.DEVICE
    with pytest.raises(UsageError, match="its baselines are the times of a submission") as error:
        run(target, request(tmp_path))
    assert "--submission" in error.value.action


@pytest.mark.parametrize(("changed", "option"), [({"name": "n" * 201}, "--name"), ({"version": "v" * 101}, "--set-version")])
def test_a_name_that_no_set_may_have_is_refused_before_anything_is_measured(tmp_path: Path, changed: dict[str, str], option: str) -> None:
    target = Clock()
    with pytest.raises(UsageError, match="of the set is too long") as error:
        run(target, replace(request(tmp_path), **changed))
    assert option in error.value.action
    assert target.called == []


def test_the_longest_names_are_taken(tmp_path: Path) -> None:
    found = run(Clock(), replace(request(tmp_path), name="n" * 200, version="v" * 100)).baselines
    assert (len(found.name), len(found.version)) == (200, 100)
