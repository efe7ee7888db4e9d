"""What each attack of the hostile submission has to lead to: see hostile_package.py, hostile_plugin.cpp and the edit of the kernel below."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from variants import KERNEL, PLUGIN, Case, Edit, write_submission

from piton.evaluate.sandbox import syscalls

HERE = Path(__file__).resolve().parent
HONEST = 1
RAW_STORE = 35
DAEMON_SECONDS = "86397"
"""Stands in the command line of everything the attacks leave behind; the same number as in hostile_package.py."""

STARTED = ("process_started",) if syscalls.is_available() else ("none", "host_exception")
"""Without a system-call filter a process can be started; it ends with the case."""


@dataclass(frozen=True)
class Attack:
    """One attack; `causes` holds more than one entry only where the machine's isolation decides which defence acts first."""

    number: int
    name: str
    causes: tuple[str, ...]
    shape: tuple[int, ...] = (2053,)


ATTACKS = (
    Attack(2, "python_reads_a_device_pointer", ("host_device_access",)),
    Attack(3, "python_writes_a_device_pointer", ("host_device_access",)),
    Attack(31, "native_code_reads_a_device_pointer", ("host_device_access",)),
    Attack(32, "native_code_writes_a_device_pointer", ("host_device_access",)),
    Attack(4, "computes_on_the_host", ("host_copy",)),
    Attack(5, "strided_copy_on_the_device", ("strided_copy",), (31, 67)),
    Attack(6, "framework_computes", ("framework_compute",)),
    Attack(7, "framework_casts", ("casting_copy",)),
    Attack(8, "refusal_swallowed", ("framework_compute",)),
    Attack(9, "returns_its_input", ("aliases_input",)),
    Attack(10, "returns_a_host_tensor", ("wrong_device",)),
    Attack(11, "returns_a_tensor_subclass", ("not_a_tensor",)),
    Attack(12, "returns_a_tensor_with_an_overridden_method", ("not_a_tensor",)),
    Attack(13, "leaves_a_daemon", STARTED),
    Attack(14, "starts_a_program", STARTED),
    Attack(15, "prints_a_result", ("unwritten_output",)),
    Attack(16, "writes_to_every_descriptor", ("illegal_reply", "protocol_violation")),
    Attack(17, "exits_at_once", ("host_exit",)),
    Attack(18, "sleeps_for_ever", ("host_deadline",)),
    Attack(19, "fills_the_host", ("host_exception", "host_memory")),
    Attack(20, "fills_the_device", ("device_memory",)),
    Attack(21, "writes_later_from_a_thread", ("unwritten_output",)),
    Attack(22, "signals_the_parent", ("host_exception", "host_signal", "host_exit")),
    Attack(33, "writes_no_output", ("unwritten_output",)),
    Attack(34, "writes_half_of_the_output", ("unwritten_output",)),
    Attack(38, "launches_nothing", ("unwritten_output",)),
    Attack(RAW_STORE, "stores_past_the_api", ("raw_gm_store",)),
    Attack(36, "reads_past_the_end", ("out_of_bounds",)),
    Attack(37, "overwrites_its_input", ("input_modified",)),
)

_KERNEL_EDITS = (
    Edit(
        KERNEL,
        "        pipe_.InitBuffer(in_, kBuffers,",
        f"        if (factor == {RAW_STORE}.0f) {{\n            *((__gm__ uint8_t *)y + start) = 1;\n        }}\n        pipe_.InitBuffer(in_, kBuffers,",
    ),
)


def hostile_cases() -> tuple[Case, ...]:
    """One case per attack, each followed by honest work that has to pass."""
    cases: list[Case] = []
    for attack in ATTACKS:
        cases.append(Case(attack.name, attack.shape, "float32", float(attack.number)))
        cases.append(Case(f"after_{attack.name}", (1031 + attack.number,), "float32", float(HONEST)))
    return tuple(cases)


def write_hostile(folder: Path) -> Path:
    """The hostile submission in `folder`."""
    write_submission(folder, _KERNEL_EDITS, package=(HERE / "hostile_package.py").read_text())
    (folder / PLUGIN).write_text((HERE / "hostile_plugin.cpp").read_text())
    return folder
