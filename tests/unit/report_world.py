"""Reports that no run made: as large as a whole published suite, with every kind of verdict, anchor and text."""

from __future__ import annotations

import random

from piton.catalog.hardware import load_hardware
from piton.core.case import Case, CaseInput, size_class
from piton.core.dtype import DType
from piton.core.execution import Diagnostic, LaunchRecord
from piton.core.fidelity import with_error
from piton.core.finding import Finding, FindingKind
from piton.core.measurement import Anchor, AnchorKind, Measurement, Provenance, WorkFigures
from piton.core.report import CaseResult, Environment, OperatorResult, OutputCheck, Report, WorstPosition
from piton.core.score import ScoreProfile
from piton.core.verdict import PASSED, Cause, Outcome, Place, outcome
from piton.report.rescore import score_report

CHIP = load_hardware("ascend910b2").figures("silicon")
_BUSY = {"s": 0.1, "v": 0.5, "mte2": 0.7, "mte3": 0.3}
_CAUSES = (Cause.MAX_ERROR, Cause.MISSING_SYNC, Cause.UB_OVERFLOW, Cause.DEVICE_BUDGET, Cause.HOST_SIGNAL)


def large_report(operators: int = 53, cases: int = 20) -> Report:
    """`operators` x `cases` cases; every seventh fails, every fifth operator has no work formula, one did not build."""
    drawn = random.Random(7)
    made = tuple(_operator(number, cases, drawn) for number in range(operators))
    return small_report(made)


def small_report(operators: tuple[OperatorResult, ...], name: str = "made_up") -> Report:
    """The scored report of these operators."""
    return score_report(
        Report(
            suite="made up",
            suite_version="1",
            suite_digest="d" * 64,
            submission=name,
            submission_digest="e" * 64,
            target="ascend910b2-sim",
            hardware="ascend910b2",
            hardware_digest="f" * 64,
            chip=CHIP,
            score_profile=ScoreProfile.SIM,
            precision_profile="strict",
            seed=0,
            auto_sync=True,
            operators=operators,
            environment=Environment(piton="0", python="3", torch="2", compiler="g++", machine="Linux", cores=2, isolation=("rlimits",)),
        )
    )


def operator_of(name: str, *cases: CaseResult, build: Outcome = PASSED, diagnostics: tuple[Diagnostic, ...] = ()) -> OperatorResult:
    """An operator with these cases."""
    compiled = build.cause is Cause.NONE
    return OperatorResult(operator=name, level=1, compiled=compiled, build_outcome=build, diagnostics=diagnostics, cases=cases, score=None)


def passed_case(operator: str = "exp", case_id: str = "1", time_us: float = 10.0, *, t_hw_us: float = 5.0, unit: str = "mte2") -> CaseResult:
    """A case that passed, with times, work, one launch and its comparison."""
    tensor = CaseInput(argument="x", shape=(1009, 1021), dtype=DType.FLOAT32)
    case = Case(operator=operator, id=case_id, inputs=(tensor,), attributes={"base": -1.0}, note="small | float32 | odd")
    work = WorkFigures(read_bytes=tensor.nbytes, write_bytes=tensor.nbytes, vector_lanes={"float32": 4.0 * tensor.elements})
    return CaseResult(
        operator=operator,
        case=case,
        size=size_class(case),
        outcome=PASSED,
        checks=(check_of(PASSED),),
        time=Measurement(samples=(time_us,), provenance=Provenance.SIMULATED, method="replay of 1 launch, cold"),
        t_hw=Anchor(
            kind=AnchorKind.T_HW,
            value_us=t_hw_us,
            provenance=Provenance.MODELLED,
            method=f"silicon peaks of ascend910b2, {operator}",
            limiting_unit=unit,
            unit_times_us={"mte2": t_hw_us, "mte3": t_hw_us / 3, "vector": t_hw_us / 2, "cube": 0.0, "floor": 1.0},
            work=work,
        ),
        t_baseline=Anchor(kind=AnchorKind.T_BASELINE, value_us=4 * t_hw_us, provenance=Provenance.SIMULATED, method="plain v0 kernel"),
        launches=(launch_of(f"{operator}_kernel<float>", time_us),),
    )


def failed_case(found: Outcome, case_id: str = "2", operator: str = "exp", others: tuple[Outcome, ...] = ()) -> CaseResult:
    """A case that did not pass."""
    return passed_case(operator, case_id).model_copy(update={"outcome": found, "others": others, "time": None, "checks": (check_of(found),)})


def check_of(found: Outcome) -> OutputCheck:
    """The comparison of one output."""
    worst = tuple(WorstPosition(index=(3, place), got=0.25, expected=0.5, relative_error=0.5) for place in range(10))
    figures = {"tau": 1e-3, "default_tau": 1e-3, "mean_error": 1e-5, "max_error": 0.5}
    return OutputCheck(name="y", dtype=DType.FLOAT32, elements=1_030_189, precision_profile="strict", worst=worst, outcome=found, **figures)


def launch_of(kernel: str, time_us: float) -> LaunchRecord:
    """A launch on 48 cores that says of every pipe what it did."""
    cycles = round(time_us * 1800)
    total = 48 * cycles
    busy = {pipe: round(total * share) for pipe, share in _BUSY.items()}
    waits = {pipe: {"flag_mte2": round(total * (1 - share) * 0.6), "idle": round(total * (1 - share) * 0.3)} for pipe, share in _BUSY.items()}
    return LaunchRecord(
        kernel=kernel,
        blocks=48,
        cycles=cycles,
        time_us=time_us,
        instructions=4902,
        busy_cycles=busy,
        stall_cycles={pipe: sum(found.values()) for pipe, found in waits.items()},
        gm_read_bytes=4_120_756,
        gm_written_bytes=4_120_756,
        cores=48,
        wait_cycles={pipe: {**found, "launch": total - busy[pipe] - sum(found.values())} for pipe, found in waits.items()},
        lost_cycles={"mte2": {"latency": round(total * 0.1)}},
        hbm_bytes=8_241_512,
    )


def _operator(number: int, cases: int, drawn: random.Random) -> OperatorResult:
    name = f"operator_number_{number}"
    if number == 3:
        found = outcome(Cause.COMPILE_ERROR, "1 error", place=Place(file=f"csrc/ops/{name}/op_kernel/kernel.cpp", line=7), errors=1)
        missing = tuple(failed_case(found, str(case), name) for case in range(1, cases + 1))
        return operator_of(name, *missing, build=found, diagnostics=(Diagnostic(file="kernel.cpp", line=7, message="no such name: cuont"),))
    made = [_case(name, number, case, drawn) for case in range(1, cases + 1)]
    return operator_of(name, *made).model_copy(update={"level": 1 + number % 4, "category": ("Elementwise", "Reduction", "Matmul")[number % 3]})


def _case(name: str, number: int, case: int, drawn: random.Random) -> CaseResult:
    if (number * 20 + case) % 7 == 0:
        place = Place(file=f"csrc/ops/{name}/op_kernel/kernel.cpp", line=40 + case % 3, core=case, instruction="DataCopyPad")
        found = outcome(_CAUSES[number % 5], "DataCopyPad reads what nothing orders; needed: a flag", place=place, begin=0, end=4096)
        return failed_case(found, str(case), name, others=(found,) * 12)
    t_hw = drawn.uniform(1.0, 120.0)
    result = passed_case(name, str(case), t_hw * drawn.uniform(1.02, 9.0), t_hw_us=t_hw, unit=drawn.choice(("mte2", "mte3", "vector", "floor")))
    if number % 2 == 0 and result.time:
        result = result.model_copy(update={"time": with_error(result.time, result.launches, CHIP.fidelity)})
    if number % 3 == 2 and result.t_hw and result.t_hw.work:
        flops = {("float16", "float32", "int8")[number % 9 // 3]: t_hw * drawn.uniform(1e7, 3e8)}
        work = result.t_hw.work.model_copy(update={"vector_lanes": {}, "cube_flops": flops})
        result = result.model_copy(update={"t_hw": result.t_hw.model_copy(update={"work": work})})
    place = Place(file="kernel.cpp", line=number)
    finding = Finding(kind=FindingKind.AUTO_SYNC_RELIED_ON, message="184 dependences are ordered only by the compiler's auto-sync", place=place)
    result = result.model_copy(update={"findings": (finding,)})
    if number % 5 == 0 and result.t_hw:
        return result.model_copy(update={"t_hw": result.t_hw.model_copy(update={"work": None, "provenance": Provenance.QUOTED, "unit_times_us": {}})})
    return result
