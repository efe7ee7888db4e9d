"""VnpuTarget: the virtual NPU as a Target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from piton.core.hardware import Hardware
from piton.core.measurement import Provenance
from piton.targets.vnpu.device import VnpuDevice
from piton.targets.vnpu.program import VnpuPrograms
from piton.targets.vnpu.toolchain import VnpuToolchain


@dataclass(frozen=True)
class VnpuTarget:
    """Implements core.protocols.Target and ProgramTarget: kernels compiled against Piton's headers, executed and timed by its engine."""

    name: str
    hardware: Hardware
    toolchain: VnpuToolchain
    device: VnpuDevice
    programs: VnpuPrograms
    provenance: Provenance = Provenance.SIMULATED

    def with_engine_apart(self) -> VnpuTarget:
        """The same with device code in a process of its own, which reaches neither the engine nor device memory."""
        return replace(self, device=replace(self.device, is_engine_apart=True), programs=replace(self.programs, is_engine_apart=True))


def open_vnpu(name: str, hardware: Hardware, chip_table: str, cache_dir: str, progress: Callable[[str], None] | None = None) -> VnpuTarget:
    """The virtual NPU that simulates `hardware`; its programs are built into `cache_dir` by the toolchain, which says so through `progress`."""
    toolchain = VnpuToolchain(hardware, cache_dir, progress)
    return VnpuTarget(name, hardware, toolchain, VnpuDevice(hardware, chip_table, toolchain), VnpuPrograms(hardware, chip_table, toolchain))
