"""One calibration from start to end: read, simulate, fit, check on what was held out, write the new hardware file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from piton.catalog.calibration_map import CalibrationMap, MatchedKernel, constants_of, figures_of, limits_of, read_mapping
from piton.catalog.hardware import load_hardware
from piton.catalog.hardware_file import check_new_file, write_hardware
from piton.catalog.profile_csv import Profile, read_profile
from piton.core.calibration import CalibrationReport, Constant, FittedConstant, GroupError, Observation, ObservationResult, group_errors
from piton.core.errors import UsageError
from piton.core.hardware import Figure, Hardware
from piton.evaluate.calibration.fit import Fit
from piton.evaluate.calibration.programs import JOURNAL_SUFFIX, Places, ProgramSimulator, simulating

LEAST = 3
"""Kernels that a fit needs."""
Times = Callable[[Hardware, Sequence[MatchedKernel]], list[float]]


@dataclass(frozen=True)
class CalibrationRequest:
    """What is asked for."""

    profile: str
    mapping: str
    hardware: str
    """Name of a shipped chip, or a file."""
    out: str
    """The hardware file to write, named after the new chip; empty: compare only, fit nothing."""
    cache_dir: str
    held_out_percent: int = 30
    is_overwriting: bool = False
    """May `out` be replaced?"""


def calibrate(request: CalibrationRequest, progress: Callable[[str], None]) -> CalibrationReport:
    """Fit and check. Raises PitonError for what the caller has to put right."""
    hardware = _with_timing_model(load_hardware(request.hardware))
    if request.out:
        check_new_file(Path(request.out), source=request.hardware, is_overwriting=request.is_overwriting)
    profile = read_profile(Path(request.profile))
    mapping = read_mapping(Path(request.mapping), profile, request.held_out_percent)
    constants = constants_of(mapping, hardware) if request.out else ()
    journal = Path(request.out or request.mapping).with_suffix(JOURNAL_SUFFIX)
    own = tuple(Path(name) for name in (request.mapping, request.out) if name)
    with simulating(Places(mapping.folder, request.cache_dir, journal, own), progress) as simulator:
        job = Calibration(request, hardware, profile, mapping, constants)
        return job.run(simulator, progress)


def _with_timing_model(hardware: Hardware) -> Hardware:
    if not hardware.simulation:
        raise UsageError(
            f"{hardware.name} has no timing model to calibrate", expected="a chip with a `simulation` block", action="start from ascend910b1 or ascend910b2"
        )
    return hardware


@dataclass(frozen=True)
class Calibration:
    """One call of `calibrate`, its inputs read."""

    request: CalibrationRequest
    hardware: Hardware
    profile: Profile
    mapping: CalibrationMap
    constants: tuple[Constant, ...]

    def run(self, simulator: ProgramSimulator, progress: Callable[[str], None]) -> CalibrationReport:
        """Fit to the kernels that are not held out, then compare all of them."""
        seen = [kernel for kernel in self.mapping.kernels if not kernel.observation.is_held_out]
        if self.constants and len(seen) < LEAST:
            found = f"{len(seen)} of {len(self.mapping.kernels)} after holding out {self.request.held_out_percent} %"
            raise UsageError("too few kernels to fit to", expected=f"at least {LEAST}", found=found, action="map more kernels, or --hold-out 0")
        fit = Fit(self.constants, [kernel.observation for kernel in seen], lambda values: simulator.times(self.chip(values), seen), progress)
        values = fit.run() if self.constants else ()
        before, after = (simulator.times(chip, self.mapping.kernels) for chip in (self.hardware, self.chip(values)))
        if self.request.out:
            write_hardware(self.named(self.chip(values, self._origin(len(seen)))), Path(self.request.out))
        return self._report(fit, values, before, after)

    def chip(self, values: Sequence[float], origin: str = "fitted") -> Hardware:
        """The hardware with the constants at `values`."""
        changed: dict[str, Figure] = {}
        for constant, value in zip(self.constants, values, strict=True):
            if value != constant.start:
                changed |= self._figures(constant, value, origin)
        return self.hardware.model_copy(update={"simulation": {**self.hardware.simulation, **changed}})

    def _figures(self, constant: Constant, value: float, origin: str) -> Mapping[str, Figure]:
        found: dict[str, Figure] = {}
        for name in figures_of(constant.name, self.hardware):
            old = self.hardware.simulation[name]
            least, most = limits_of(name, self.hardware)  # once more: rounding to four digits may step over them
            new = min(max(float(f"{old.value * value:.4g}") if constant.is_factor else value, least), most)
            found[name] = Figure(value=round(new) if name.endswith("_cycles") else new, source=f"{origin}; was {old.value:g}: {old.source}")
        return found

    def named(self, chip: Hardware) -> Hardware:
        """With the name of the file it is written to, and without the error bands of the old constants."""
        return chip.model_copy(update={"name": Path(self.request.out).stem, "fidelity": {}})

    def _origin(self, seen: int) -> str:
        return f"fitted by piton calibrate to {seen} kernels of {Path(self.profile.file).name} (SHA-256 {self.profile.digest[:12]})"

    def _report(self, fit: Fit, values: Sequence[float], before: Sequence[float], after: Sequence[float]) -> CalibrationReport:
        kernels = self.mapping.kernels
        observations = [kernel.observation for kernel in kernels]
        rows = [
            ObservationResult(key=item.key, group=item.group, is_held_out=item.is_held_out, measured_us=item.measured_us, before_us=old, after_us=new)
            for item, old, new in zip(observations, before, after, strict=True)
        ]

        return CalibrationReport(
            hardware=self.hardware.name,
            profile=Path(self.profile.file).name,
            profile_digest=self.profile.digest,
            out=self.request.out,
            constants=tuple(_fitted(*item) for item in zip(self.constants, values, fit.influence or [0.0] * len(values), strict=True)),
            fitted_before=_errors(observations, before, is_held_out=False),
            fitted_after=_errors(observations, after, is_held_out=False),
            held_out_before=_errors(observations, before, is_held_out=True),
            held_out_after=_errors(observations, after, is_held_out=True),
            simulations=fit.tried,
            unmatched_rows=self.mapping.unmatched_rows,
            rows=tuple(rows),
        )


def _errors(observations: Sequence[Observation], times: Sequence[float], *, is_held_out: bool) -> tuple[GroupError, ...]:
    chosen = [(item, time) for item, time in zip(observations, times, strict=True) if item.is_held_out == is_held_out]
    return group_errors([item for item, _ in chosen], [time for _, time in chosen]) if chosen else ()


def _fitted(constant: Constant, value: float, influence: float) -> FittedConstant:
    return FittedConstant(name=constant.name, start=constant.start, value=value, low=constant.low, high=constant.high, influence=influence)
