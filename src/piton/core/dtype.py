"""Names and sizes of element types; conversions and arithmetic live in `piton.numerics`."""

from __future__ import annotations

from enum import Enum


class DType(str, Enum):
    """An element type by the name the suites use."""

    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    HIFLOAT32 = "hifloat32"
    FLOAT8_E4M3 = "float8_e4m3"
    FLOAT8_E5M2 = "float8_e5m2"
    HIFLOAT8 = "hifloat8"
    FLOAT8_E8M0 = "float8_e8m0"
    """A power of two and nothing else: the scale that a block of an MX format shares."""
    FLOAT4_E2M1 = "float4_e2m1"
    INT4 = "int4"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    UINT64 = "uint64"
    BOOL = "bool"

    @property
    def bits(self) -> int:
        """Storage bits of one element."""
        return _BITS[self]

    @property
    def is_floating(self) -> bool:
        """True for every floating format, including the 8- and 4-bit ones."""
        return "float" in self.value

    @property
    def is_low_bit(self) -> bool:
        """True for floating formats of 8 and 4 bits: no processor that Piton runs on computes in them."""
        return self.is_floating and self.bits <= 8

    def bytes_of(self, elements: int) -> int:
        """Bytes that `elements` densely packed elements take."""
        return (elements * self.bits + 7) // 8


_BITS = {
    DType.FLOAT16: 16,
    DType.BFLOAT16: 16,
    DType.FLOAT32: 32,
    DType.FLOAT64: 64,
    DType.HIFLOAT32: 32,
    DType.FLOAT8_E4M3: 8,
    DType.FLOAT8_E5M2: 8,
    DType.HIFLOAT8: 8,
    DType.FLOAT8_E8M0: 8,
    DType.FLOAT4_E2M1: 4,
    DType.INT4: 4,
    DType.INT8: 8,
    DType.UINT8: 8,
    DType.INT16: 16,
    DType.UINT16: 16,
    DType.INT32: 32,
    DType.UINT32: 32,
    DType.INT64: 64,
    DType.UINT64: 64,
    DType.BOOL: 8,
}
