"""When a search is done: what is left above the roof is inside a tolerance."""

from __future__ import annotations

from piton.agent.analysis.profile import Profile

TOLERANCE = 0.1
"""Of T_HW, by default."""


def stop_reason(profile: Profile, tolerance: float = TOLERANCE) -> str:
    """Why a search on this variant is over, in words; empty when it is not.

    The mean and the worst case count: a mean inside the tolerance with a case at twice its roof is not done. A case below its roof is no triumph: the
    measurement or the work model is wrong, and the search stops there as well.
    """
    headroom, worst = profile.headroom, profile.worst
    if headroom is None or worst is None:
        return ""
    below = [case.case for case in profile.cases if case.ratio < 1.0]
    if below:
        return f"case {below[0]} takes less than T_HW: its measurement or the work model is wrong, and nothing can be concluded from it"
    if headroom <= 1.0 + tolerance and worst.ratio <= 1.0 + 2.0 * tolerance:
        return f"headroom is used up: {headroom:.3f} T_HW on average, at most {worst.ratio:.3f} (case {worst.case}), tolerance {tolerance:g}"
    return ""
