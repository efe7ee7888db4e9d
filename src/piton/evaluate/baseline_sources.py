"""Where T_baseline of a case comes from: a baseline file that was named, the suite's plain kernels, the model, the published set (D5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from piton.anchors import choose_baseline
from piton.core.baseline import BaselineSet, BaselineTime, case_identity
from piton.core.case import Case
from piton.core.errors import UsageError
from piton.core.finding import Finding, FindingKind
from piton.core.hardware import Hardware
from piton.core.measurement import Anchor, Provenance
from piton.core.operator import Operator
from piton.core.protocols import Target
from piton.core.score import ScoreProfile
from piton.core.suite import Suite
from piton.evaluate.baselines import KnownBaselines, SimulatedBaselines
from piton.evaluate.measured import MeasuredBaselines

_WORLDS = {
    ScoreProfile.SIM: (Provenance.SIMULATED, Provenance.MODELLED, Provenance.QUOTED),
    ScoreProfile.CANN_BENCH: (Provenance.DEVICE, Provenance.QUOTED),
    ScoreProfile.CPU: (Provenance.DEVICE,),
}
"""Origins of T_baseline that a profile may use: a score never mixes worlds (D4)."""


class Modelled(Protocol):
    """A model of T_baseline."""

    def __call__(self, operator: Operator, case: Case) -> Anchor | None:
        """The modelled T_baseline of a case, or None where the model does not know the operator."""
        ...

    @property
    def version(self) -> str:
        """How scores name it."""
        ...

    def close(self) -> None:
        """End what was started."""
        ...


@dataclass(frozen=True)
class ChosenBaseline:
    """The T_baseline of a case, and what a person should know about the choice."""

    anchor: Anchor | None
    findings: tuple[Finding, ...] = ()


class FiledBaselines:
    """The times of a baseline file, as far as they are for the cases and the hardware at hand."""

    def __init__(self, baselines: BaselineSet, suite: Suite, hardware: Hardware) -> None:
        self._set = baselines
        self._times = {(item.operator, item.case): item for item in baselines.cases}
        self._suite = suite
        self._hardware_digest = hardware.digest()

    @property
    def version(self) -> str:
        """How scores name the file."""
        return self._set.title

    def anchor(self, operator: Operator, case: Case) -> ChosenBaseline:
        """T_baseline of a case. There is none for a case that the file lacks, and for one whose time is stale, which is a finding."""
        found = self._times.get((operator.name, case.id))
        if found is None:
            return ChosenBaseline(None)
        reason = self._why_stale(found, operator, case)
        if not reason:
            return ChosenBaseline(self._set.anchor(found))
        message = f"T_baseline of {operator.name}/{case.id} in {self._set.name} {self._set.version} is not used: {reason}"
        return ChosenBaseline(None, (Finding(kind=FindingKind.STALE_ANCHOR, message=message),))

    def _why_stale(self, found: BaselineTime, operator: Operator, case: Case) -> str:
        baselines = self._set
        if baselines.hardware_digest != self._hardware_digest:
            return f"the hardware file of {baselines.hardware} has changed since (digest {baselines.hardware_digest[:8]}, now {self._hardware_digest[:8]})"
        if baselines.suite_version != self._suite.version:
            return f"it is for version {baselines.suite_version} of the suite, this is {self._suite.version}"
        return "" if found.identity == case_identity(operator, case) else "the case or its operator has changed since"


@dataclass(frozen=True)
class BaselineSources:
    """All that a run may take T_baseline from."""

    filed: FiledBaselines | None = None
    simulated: SimulatedBaselines | KnownBaselines | None = None
    modelled: Modelled | None = None
    measured: MeasuredBaselines | None = None
    """Times of the goldens themselves, where the target measures real time on this machine."""
    quoted_version: str = ""
    """What the published set is called, where there is one."""

    def choose(self, operator: Operator, case: Case, quoted: Anchor | None, profile: ScoreProfile) -> ChosenBaseline:
        """The first that is known: of the file, else in the order of the profile. Raises EvaluatorError when a plain kernel of ours does not run."""
        filed = self.filed.anchor(operator, case) if self.filed else ChosenBaseline(None)
        if filed.anchor is not None:
            return filed
        simulated = self.simulated.anchor(operator, case) if self.simulated else None
        modelled = self.modelled(operator, case) if self.modelled and simulated is None else None
        named = quoted.model_copy(update={"version": self.quoted_version}) if quoted else None
        return ChosenBaseline(choose_baseline(simulated, modelled, named, profile), filed.findings)

    @property
    def versions(self) -> tuple[str, ...]:
        """The sets there are, in the order in which they are asked."""
        sets = [source.version for source in (self.filed, self.simulated, self.modelled, self.measured) if source is not None]
        return tuple([*sets, self.quoted_version] if self.quoted_version else sets)

    def close(self) -> None:
        """End what was started."""
        for source in (self.simulated, self.modelled, self.measured):
            if source is not None:
                source.close()


def quoted_version(suite: Suite) -> str:
    """How scores name the published baselines of a suite."""
    return f"quoted by {suite.name} {suite.version}"


def check_set(baselines: BaselineSet, suite: Suite, hardware: Hardware, profile: ScoreProfile) -> None:
    """Raise UsageError for a baseline file that is about something else than this run: another suite, another chip, another world."""
    _refuse_other("suite", baselines.suite, suite.name, baselines)
    _refuse_other("chip", baselines.hardware, hardware.name, baselines)
    allowed = _WORLDS[profile]
    strange = sorted({item.time.provenance.value for item in baselines.cases if item.time.provenance not in allowed})
    if strange:
        names = ", ".join(origin.value for origin in allowed)
        problem = f"baselines {baselines.name} {baselines.version} are of another world than scores of the profile {profile.value}: these do not mix"
        raise UsageError(problem, expected=names, found=", ".join(strange), action="give a baseline file that was made on a target of the same kind")


def other_toolchain(baselines: BaselineSet, target: Target) -> str:
    """What to tell of a simulated set that another simulator made; "" when it was this one, or a device."""
    current = target.toolchain.identity
    is_simulated = any(item.time.provenance is Provenance.SIMULATED for item in baselines.cases)
    if not is_simulated or baselines.toolchain == current:
        return ""
    made = f"baselines {baselines.name} {baselines.version} were simulated with {baselines.toolchain}"
    return f"{made}, T_cand with {current}: what differs between the two is in HAP"


def _refuse_other(what: str, found: str, wanted: str, baselines: BaselineSet) -> None:
    if found != wanted:
        problem = f"baselines {baselines.name} {baselines.version} are of another {what}"
        raise UsageError(problem, expected=wanted, found=found, action="check --baseline, --suite and --target")
