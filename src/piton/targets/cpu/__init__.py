"""The target `cpu`: kernels in C++ or Python on the machine's own processor, in real time that the parent measures (docs/cpu.md)."""
