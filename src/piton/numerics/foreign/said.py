"""What a description says in words: the schema line, the note of a case, and the remarks of an operator."""

from __future__ import annotations

from collections.abc import Sequence

from piton.core.foreign import ScaledSize, TaskPlan
from piton.core.operator import AttrType, TensorSpec
from piton.numerics.foreign.probe import Probe

SCHEMA_TYPES: dict[AttrType, str] = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "dtype": "ScalarType",
    "int_list": "int[]",
    "float_list": "float[]",
    "bool_list": "bool[]",
    "str_list": "str[]",
}
NOTHING = "none"
"""Kind of an argument that no case gives anything for."""


def schema_types(kinds: dict[str, str], probes: Sequence[Probe]) -> dict[str, str]:
    """Arguments of forward with their types in a schema; None where nothing is ever given, `?` where some case gives nothing."""
    absent = {name for name in kinds if any(item.arguments.get(name) is None for item in probes)}
    typed = {name: SCHEMA_TYPES.get(kind, "") for name, kind in kinds.items() if kind != NOTHING}  # type: ignore[call-overload]  # other kinds are tensors
    return {name: f"{text}?" if text and name in absent else text for name, text in typed.items()}


def schema_line(name: str, types: dict[str, str], inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> str:
    """The schema: arguments of forward in their order, then the state."""
    specs = {spec.name: spec for spec in inputs}
    parts = [_tensor_text(specs[key]) if key in specs else f"{text} {key}" for key, text in types.items()]
    parts += [_tensor_text(spec) for spec in inputs if spec.name not in types]
    results = ", ".join(f"Tensor{'[]' if spec.is_list else ''} {spec.name}" for spec in outputs)
    return f"{name}({', '.join(parts)}) -> {results if len(outputs) == 1 else f'({results})'}"


def _tensor_text(spec: TensorSpec) -> str:
    return f"Tensor{'[]' if spec.is_list else ''}{'?' if spec.is_optional else ''} {spec.name}"


def scale_note(plan: TaskPlan) -> str:
    """Note of the case: its scaled sizes."""
    return ", ".join(f"{'='.join(item.names)} {item.before} scaled to {item.after}" for item in plan.scaled)


def scale_remarks(scaled: Sequence[ScaledSize]) -> tuple[str, ...]:
    """That sizes were scaled, and which."""
    texts = [f"{' = '.join(item.names)} from {item.before} to {item.after}" for item in scaled]
    return (f"sizes were scaled to fit the budget: {', '.join(texts)}; results are not those of the benchmark's own size",) if texts else ()


def quiet_remarks(plan: TaskPlan) -> tuple[str, ...]:
    """That dropout is off."""
    return ("dropout is switched off: with it the golden would be random",) if plan.is_quiet else ()


def left_out_remarks(probes: Sequence[Probe], odd: dict[str, str]) -> tuple[str, ...]:
    """How many cases have no form that Piton can say, and why the first."""
    if not odd:
        return ()
    first = next(iter(odd.items()))
    return (f"{len(odd)} of {len(probes)} cases are left out; the first: case {first[0]}, {first[1]}",)
