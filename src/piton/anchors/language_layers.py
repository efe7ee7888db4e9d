"""Work formulas of two layers of recent language models: engram_gate_fusion and mhc_sinkhorn.

Bytes: every operand is read once and every result written once, what lies between stays on the chip. How `convention` and `silicon` are meant is said in
`elementwise`.
"""

from __future__ import annotations

from piton.anchors.arithmetic import arithmetics
from piton.anchors.formula import Formula
from piton.anchors.operands import has_operand, input_bytes, number, operand
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware


def engram_gate_fusion_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: 12 float32 lane instructions per element of keys, whatever the number of taps; the state that is written is left out."""
    keys = operand(case, "keys")
    return Work("published count", input_bytes(case), keys.nbytes, vector_lanes={DType.FLOAT32: 12.0 * keys.elements})


def engram_gate_fusion_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Shortest known, per element of keys: 4 for the dot product and the two mean squares, 1 per tap, 5 for scaling, silu and the gated value.

    The product of keys and hidden states goes with the product of their weights into a sum (Mul, MulAddDst), squares into two (MulAddDst each). The mean
    square of a gated value follows from that of the value, which all streams share. A value is scaled once per stream; the norm's weights go into the taps;
    then Exp, Adds, Div, Axpy. bfloat16 operands and results are converted where the chip doesn't calculate in it, the second part being in half then. Taps
    that only meet the zeros before a sequence without state are neither read nor counted.
    """
    keys, taps = operand(case, "keys"), _taps_in_use(case)
    tail = taps + 5
    choices = {way.name: {way.lanes: float((4 + tail) * keys.elements)} for way in arithmetics(keys.dtype, chip) if not way.is_converted}
    choices["float32 products, half taps"] = {DType.FLOAT32: float((4 + 4) * keys.elements), DType.FLOAT16: float(tail * keys.elements)}
    weights = operand(case, "conv_weight")
    read = input_bytes(case) - weights.nbytes + weights.nbytes // weights.shape[-1] * taps
    return tuple(Work(choice, read, keys.nbytes + _state_bytes(case), vector_lanes=lanes) for choice, lanes in choices.items())


def _taps_in_use(case: Case) -> int:
    """Of K taps, `dilation` positions apart, those that meet a value or a state. The last position sees furthest back."""
    taps, length = int(number(case, "kernel_size")), operand(case, "keys").shape[1]
    return taps if has_operand(case, "conv_state") else min(taps, 1 + (length - 1) // int(number(case, "dilation")))


def _state_bytes(case: Case) -> int:
    """conv_state_out [B, H D, (K - 1) dilation] in the dtype of keys [B, L, H, D]."""
    keys = operand(case, "keys")
    batch, _, streams, width = keys.shape
    return keys.dtype.bytes_of(batch * streams * width * (int(number(case, "kernel_size")) - 1) * int(number(case, "dilation")))


def mhc_sinkhorn_convention(case: Case, edition: Edition) -> Work:
    """Published anchors, float32 lane instructions per entry: 10 iter_step + 1 on edition 910b2, 8 iter_step - 2 and 24 per row on edition 950pr."""
    comb, rounds = operand(case, "comb"), number(case, "iter_step")
    per_entry = 10 * rounds + 1 if edition == "910b2" else 8 * rounds - 2 + 24 / comb.shape[-1]
    return Work("published count", comb.nbytes, comb.nbytes, vector_lanes={DType.FLOAT32: comb.elements * per_entry})


def mhc_sinkhorn_silicon(case: Case, _chip: Hardware) -> tuple[Work, ...]:
    """Shortest known: softmax with eps (3 per entry), then 2 iter_step - 1 divisions by sums, of the entries or of scaling vectors.

    An entry in place: n - 1 Add per sum of n entries, one Adds of eps, a Div per entry: 2 per entry and division. With scaling vectors the entries stay as
    they are: a sum of entries times factors is one multiply-add per entry, and a new factor takes two instructions, w = sum + eps w and 1 / w; at the end
    every entry is multiplied by both its factors. That pays for larger matrices. Lanes are full: the same entry of many matrices makes a vector.

    Exception to the bound: all rounds are counted, also those that no longer change anything to speak of. How many these are depends on the data. Where entries
    differ by 6 and more no round can be left out; where they differ by 1 to 3, two to nine rounds do, and a kernel that stops then is faster than this.
    Only equal entries are seen from the case, and need no second round.
    """
    comb = operand(case, "comb")
    side, divisions = comb.shape[-1], 1 if comb.low == comb.high else 2 * int(number(case, "iter_step")) - 1
    # Exp, Add into a row's sum, Reciprocal of it, FusedMulAdd by it with eps; entries may be known to be small, and then need no maximum subtracted.
    softmax = 1 + (side - 1) / side + 1 / side + 1
    in_place = softmax + 2 * divisions
    # The first sums have no factors yet; with one division there is one factor at the end.
    by_factors = softmax + (side - 1) / side + 2 / side + (divisions - 1) * (1 + 2 / side) + min(divisions, 2)
    return (_sinkhorn_work(case, "division in place", in_place), _sinkhorn_work(case, "scaling vectors", by_factors))


def _sinkhorn_work(case: Case, choice: str, per_entry: float) -> Work:
    comb = operand(case, "comb")
    return Work(choice, comb.nbytes, comb.nbytes, vector_lanes={DType.FLOAT32: comb.elements * per_entry})


FORMULAS = {
    "engram_gate_fusion": Formula(
        frozenset({"hc_mult", "hidden_size", "kernel_size", "dilation", "norm_eps"}), engram_gate_fusion_convention, engram_gate_fusion_silicon
    ),
    "mhc_sinkhorn": Formula(frozenset({"iter_step", "eps"}), mhc_sinkhorn_convention, mhc_sinkhorn_silicon),
}
