"""Which T_baseline a score uses, when several are known."""

from __future__ import annotations

from piton.core.measurement import Anchor
from piton.core.score import ScoreProfile


def choose_baseline(
    simulated: Anchor | None,
    modelled: Anchor | None,
    quoted: Anchor | None,
    profile: ScoreProfile,
    *,
    measured: Anchor | None = None,
) -> Anchor | None:
    """The first that is known, in the order of the profile; None when there is none (finding `no_anchor`, no performance credit).

    sim:        simulated (plain kernels on the same virtual NPU), modelled, quoted
    cann-bench: measured here, quoted

    Simulated times never enter the cann-bench profile and device times never enter sim, so that a score does not mix worlds (D4). The one exception is
    written down: in sim a quoted baseline stands in where neither of the others exists yet, and its provenance says so (D5).
    """
    order = (simulated, modelled, quoted) if profile is ScoreProfile.SIM else (measured, quoted)
    return next((anchor for anchor in order if anchor is not None), None)
