"""What a row of the tables of documented forms is."""

from __future__ import annotations

from dataclasses import dataclass

FLOATS = "half float"
ARITHMETIC = "half float int16_t int32_t"
LOGIC = "int16_t uint16_t"
SHIFTED = "int16_t uint16_t int32_t uint32_t"
SPREAD = "half bfloat16_t float int16_t uint16_t int32_t uint32_t"
NARROW = "int8_t uint8_t int16_t uint16_t half int32_t uint32_t float"
COPIED = f"{NARROW} bfloat16_t int64_t uint64_t double"
TYPES = (*COPIED.split(), "bool", "int4b_t")
ANY = ""


@dataclass(frozen=True)
class Form:
    """One way to call a name: the statement in terms of T (and U), the types it takes and those it refuses when compiled."""

    name: str
    statement: str
    accepted: tuple[str, ...]
    refused: tuple[str, ...]

    def instances(self) -> tuple[str, ...]:
        """Accepted types; the empty text where the form has none."""
        return self.accepted or ("",)


def _refused(accepted: tuple[str, ...], said: str | None) -> tuple[str, ...]:
    """`said` types; all others if None, all other pairs if `*`."""
    if said == "*":
        return tuple(pair for pair in (f"{to},{source}" for to in TYPES for source in TYPES) if pair not in accepted)
    if said is not None:
        return tuple(said.split())
    return tuple(kind for kind in TYPES if accepted and kind not in accepted)


def forms(names: str, statements: tuple[str, ...], accepted: str, refused: str | None = None) -> tuple[Form, ...]:
    """Rows of all names with all statements."""
    types = tuple(accepted.split())
    return tuple(Form(name, statement.replace("{n}", name), types, _refused(types, refused)) for name in names.split() for statement in statements)
