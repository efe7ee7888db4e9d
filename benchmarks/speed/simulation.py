"""How fast is the simulator? Add of two float16 tensors of 16M elements, with hazards checked and time predicted."""

from __future__ import annotations

import numpy as np
from figures import Figure
from rig import ROOT, Rig

from piton.catalog import load_suite, read_submission
from piton.core.dtype import DType
from piton.core.execution import CaseCall, Execution, TensorArgument
from piton.core.protocols import Session

ROUNDS = 5
SHAPE = (4096, 4096)
KERNELS = ROOT / "kernels" / "fidelity"
VARIANTS = {"64 KiB buffers": 6, "8 KiB buffers": 2}


def measure(rig: Rig) -> list[Figure]:
    """Wall time of a launch inside the device process (one thread): device code, engine, hazards and the replay that predicts time."""
    member = load_suite(str(KERNELS / "suite")).members[0]
    place = rig.fresh("add")
    submission = read_submission(KERNELS / "add_high_performance", place / "submission")
    build = rig.target.toolchain.build(submission, member.operator, rig.runner, str(place / "build"))
    session = rig.target.device.open(submission, member.operator, build, rig.runner)
    try:
        return [_figure(session, name, variant) for name, variant in VARIANTS.items()]
    finally:
        session.close()


def _figure(session: Session, name: str, variant: int) -> Figure:
    """The bound holds for the first variant; the other one makes four times as many instructions of the same work."""
    walls = _walls_ms(session, variant)
    method = f"kernels/fidelity variant {variant}; one launch in the device process, one thread: execution, hazards, replay; {ROUNDS} calls"
    return Figure(f"simulate Add fp16 16M, {name}", "ms", walls, method, bound=100.0 if variant == 6 else None)


def _walls_ms(session: Session, variant: int) -> tuple[float, ...]:
    values = [np.random.default_rng(seed).standard_normal(SHAPE, np.float32).astype(np.float16) for seed in (1, 2)]
    expected = (values[0].astype(np.float32) + values[1]).astype(np.float16)
    tensors = tuple(TensorArgument(name, SHAPE, DType.FLOAT16, memoryview(data).cast("B")) for name, data in zip("xy", values, strict=True))
    call = CaseCall("bench", tensors, ("x", "y", "variant"), {"variant": variant})
    return tuple(1000 * _checked(session.call(call), expected).simulation_s for _ in range(ROUNDS))


def _checked(execution: Execution, expected: np.ndarray) -> Execution:
    """The execution, once its result is known to be right: a fast wrong answer is worth nothing."""
    if execution.outcomes:
        raise RuntimeError(f"the Add kernel failed: {execution.outcomes[0].message}")
    data = execution.outputs[0].data
    if data is None or not np.array_equal(np.frombuffer(data, np.float16), expected.ravel()):
        raise RuntimeError("the Add kernel's sum is wrong")
    return execution
