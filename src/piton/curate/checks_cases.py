"""Structural checks of an operator's cases: the dataset rules of the paper (section 2.3). Nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from piton.core.case import Case, SizeClass, size_class
from piton.curate.aspects import (
    FEWEST_ELEMENTS,
    MOST_ELEMENTS,
    attribute_key,
    case_families,
    families,
    has_many_attribute_values,
    has_prime,
    has_side_tensor_only,
    identity_key,
    is_non_aligned,
    range_key,
    repeats,
)
from piton.curate.draw import note_of
from piton.curate.plan import TWENTY
from piton.curate.violation import Problem, Subject
from piton.evaluate.memory import golden_bytes

_EDGES = ("dtype-boundary", "special-inf", "special-nan", "special-zero")
_SPECIAL = frozenset({"special-inf", "special-nan"})
_NOTE_PARTS = 4


def case_ids(subject: Subject) -> Iterator[Problem]:
    """Twenty public cases, with ids from 1 on."""
    found = [case.id for case in subject.cases]
    if found != [str(number) for number in range(1, TWENTY + 1)]:
        yield Problem(
            problem="an operator has twenty public cases with ids from 1 on", expected="1 to 20", found=", ".join(found), action="add or rename cases"
        )


def allowed_dtypes(subject: Subject) -> Iterator[Problem]:
    """Every case uses dtypes that the signature allows."""
    allowed = {spec.name: spec.dtypes for spec in subject.operator.inputs}
    for case in subject.cases:
        for item in case.inputs:
            if item.dtype not in allowed[item.argument]:
                expected = ", ".join(dtype.value for dtype in allowed[item.argument])
                yield Problem(problem=f"dtype of {item.argument} is not in the signature", expected=expected, found=item.dtype.value, case=case.id)


def unique_elements(subject: Subject) -> Iterator[Problem]:
    """No two cases have the same number of elements."""
    yield from _repeated(subject, "element count", lambda case: case.elements, "change a size")


def unique_attributes(subject: Subject) -> Iterator[Problem]:
    """No two cases have the same attributes, where these can take any number of values."""
    if has_many_attribute_values(subject.operator, subject.rules):
        yield from _repeated(subject, "set of attributes", attribute_key, "change a value")


def unique_ranges(subject: Subject) -> Iterator[Problem]:
    """No two cases have the same value ranges."""
    yield from _repeated(subject, "value range", range_key, "change an end")


def unique_cases(subject: Subject) -> Iterator[Problem]:
    """No two cases agree in element count, attributes and value ranges together."""
    yield from _repeated(
        subject, "triple of element count, attributes, range", lambda case: (case.elements, attribute_key(case), range_key(case)), "change one"
    )


def _repeated(subject: Subject, what: str, key: Callable[[Case], object], action: str) -> Iterator[Problem]:
    for case, other in repeats((case.id, key(case)) for case in subject.cases):
        yield Problem(problem=f"the {what} of case {other} again", expected="each once in the operator", case=case, action=action)


def element_range(subject: Subject) -> Iterator[Problem]:
    """A case has 1e6 to 3e8 elements."""
    for case in subject.cases:
        if not FEWEST_ELEMENTS <= case.elements <= MOST_ELEMENTS:
            yield Problem(problem="number of elements out of range", expected="1e6 to 3e8, all inputs together", found=f"{case.elements}", case=case.id)


def size_classes(subject: Subject) -> Iterator[Problem]:
    """Small, medium and large cases occur."""
    missing = [item.value for item in SizeClass if item not in {size_class(case) for case in subject.cases}]
    if missing:
        yield Problem(problem=f"no {' and no '.join(missing)} case", expected="below 1e7, between, and from 9e7 elements on", found="none", action="add one")


def non_aligned_share(subject: Subject) -> Iterator[Problem]:
    """At least half of the cases are non-aligned: an input's innermost byte length is no multiple of 512."""
    skewed = sum(is_non_aligned(case) for case in subject.cases)
    if 2 * skewed < len(subject.cases):
        yield Problem(problem="too few non-aligned cases", expected="at least half", found=f"{skewed} of {len(subject.cases)}", action="use odd or prime sizes")


def prime_bias(subject: Subject) -> Iterator[Problem]:
    """Most non-aligned cases have a prime axis."""
    skewed = [case for case in subject.cases if is_non_aligned(case)]
    primes = sum(has_prime(case) for case in skewed)
    if 2 * primes <= len(skewed) and skewed:
        yield Problem(problem="few non-aligned cases have a prime axis", expected="more than half", found=f"{primes} of {len(skewed)}", action="use primes")


def side_tensors(subject: Subject) -> Iterator[Problem]:
    """A tiny side tensor alone does not make a case non-aligned."""
    for case in subject.cases:
        if has_side_tensor_only(case):
            yield Problem(problem="only a tiny side tensor is non-aligned", expected="an input with 1 % of the elements or more", case=case.id)


def ranks(subject: Subject) -> Iterator[Problem]:
    """Ranks from 1 to 5 occur where the operator's rules allow them."""
    if subject.rules is None:
        return
    allowed = {rank for layout in subject.rules.layouts for rank in range(layout.ranks[0], min(layout.ranks[1], 5) + 1)}
    missing = sorted(allowed - {len(case.inputs[0].shape) for case in subject.cases})
    if missing:
        yield Problem(problem="ranks do not occur", expected=", ".join(map(str, sorted(allowed))), found=f"not there: {', '.join(map(str, missing))}")


def symmetric_small(subject: Subject) -> Iterator[Problem]:
    """A case has a small symmetric value range."""
    yield from _wanted(subject, {"symmetric-small"}, "no case with a small symmetric range", "[-a, a] with a up to 8")


def boundary(subject: Subject) -> Iterator[Problem]:
    """A case reaches the boundary of its dtype."""
    yield from _wanted(
        subject, {"dtype-boundary"}, "no case at the boundary of its dtype", "an end from 60000 (float16), 88 (other floats), or the largest integer on"
    )


def special_values(subject: Subject) -> Iterator[Problem]:
    """A case has infinities or NaN among its inputs."""
    yield from _wanted(subject, _SPECIAL, "no case with special values", "an end that is inf, -inf or nan")


def _wanted(subject: Subject, wanted: Iterable[str], problem: str, expected: str) -> Iterator[Problem]:
    """`problem` when no case is of a wanted family and the operator's rules do not exclude all of them."""
    allowed = set(wanted) & set(subject.rules.families) if subject.rules else set(wanted)
    if allowed and not any(case_families(case) & allowed for case in subject.cases):
        yield Problem(problem=problem, expected=expected, found="none", action="add one, or leave the family out under `families` in rules.yaml")


def range_variety(subject: Subject) -> Iterator[Problem]:
    """Asymmetric and large value ranges occur."""
    found = {family for case in subject.cases for family in case_families(case)}
    for start, end in (("asymmetric", ""), ("", "large")):
        if not any(family.startswith(start) and family.endswith(end) for family in found):
            yield Problem(problem=f"no {start or end} value range", expected=f"a case with one ({'low is not -high' if start else 'an end above 40'})")


def dtype_coverage(subject: Subject) -> Iterator[Problem]:
    """Every dtype of the first input occurs."""
    missing = _missing_dtypes(subject, lambda case: True)
    if missing:
        yield Problem(problem="dtypes of the first input do not occur", expected="each in some case", found=f"not there: {', '.join(missing)}")


def dtype_edges(subject: Subject) -> Iterator[Problem]:
    """Every dtype of the first input that occurs has a case at its boundary or with special values."""
    absent = _missing_dtypes(subject, lambda case: True)
    missing = [name for name in _missing_dtypes(subject, lambda case: any(families(item) & set(_EDGES) for item in case.inputs)) if name not in absent]
    if missing:
        yield Problem(problem="dtypes without a boundary or special case", expected="one for each dtype", found=f"none for {', '.join(missing)}")


def _missing_dtypes(subject: Subject, counts: Callable[[Case], bool]) -> list[str]:
    found = {case.inputs[0].dtype for case in subject.cases if case.inputs and counts(case)}
    return [dtype.value for dtype in subject.operator.inputs[0].dtypes if dtype not in found] if subject.operator.inputs else []


def notes(subject: Subject) -> Iterator[Problem]:
    """The note of a case says what it is: size, dtype, alignment, family of its range."""
    for case in subject.cases:
        parts = case.note.split(" | ")
        family = parts[-1]
        lead = next((item for item in case.inputs if subject.rules is None or item.argument == subject.rules.lead), None)
        possible = families(lead) if lead else frozenset()
        wanted = note_of(case, case.inputs[0].dtype, family)
        if len(parts) != _NOTE_PARTS or not _same_but_prime(case.note, wanted) or family not in possible:
            expected = " or ".join(note_of(case, case.inputs[0].dtype, item) for item in sorted(possible))
            yield Problem(
                problem="the note does not say what the case is", expected=expected, found=case.note or "nothing", case=case.id, action="correct the note"
            )


def _same_but_prime(found: str, wanted: str) -> bool:
    """A note need not say `prime`: an outer axis that happens to be one is not worth a word."""
    return found.replace(" prime", "") == wanted.replace(" prime", "")


def memory_ceiling(subject: Subject) -> Iterator[Problem]:
    """The golden run of a case fits the suite's memory ceiling, by the estimate that schedules it."""
    for case in subject.cases:
        if 0 < subject.memory_ceiling_bytes < golden_bytes(case):
            expected, found = (f"about {size / 2**30:.1f} GiB" for size in (subject.memory_ceiling_bytes, golden_bytes(case)))
            yield Problem(
                problem="the case is above the suite's memory ceiling", expected=f"at most {expected}", found=found, case=case.id, action="make it smaller"
            )


def no_overlap(subject: Subject) -> Iterator[Problem]:
    """A hidden case repeats no public one."""
    public = {identity_key(case): case.id for case in subject.public}
    for case in subject.cases:
        if identity_key(case) in public:
            yield Problem(problem=f"the same as public case {public[identity_key(case)]}", expected="a case that nobody has seen", case=case.id)
