"""Work formula of the projections before latent attention: mla_prolog.

Products: tokens x w_dq and tokens x w_dkv_kr, normalised latent queries x w_uq_qr, each head's queries x w_uk, one after the other. How `convention` and
`silicon` are meant is said in `elementwise`.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.cube_work import Rest, Stage, handed_to_cube, handed_to_vector, product_work, read_by_cube_bytes
from piton.anchors.formula import Formula
from piton.anchors.operands import input_bytes, number, operand
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_NORMALISE = 3
"""Instructions for each element of RMS normalisation: MulAddDst into the sum of squares, Mul by the row's factor, Mul by gamma."""
_ROTATE = 2
"""Instructions for each element of a rotation: Mul by the cosine, MulAddDst of the other half with the sine."""
_TWO_BYTES = 2


@dataclass(frozen=True)
class _Sizes:
    tokens: int
    hidden: int
    latent_query: int
    heads: int
    head: int
    """Columns of a head without the rotary ones."""
    rotary: int
    latent: int

    @property
    def results(self) -> int:
        """query, query_rope, c_kv and k_rope."""
        return self.tokens * (self.heads + 1) * (self.latent + self.rotary)


def mla_prolog_convention(case: Case, _edition: Edition) -> Work:
    """Published anchors: every input read, every output written, 2 operations for each token and element of the four matrices; norms and rotations are free."""
    sizes = _sizes(case)
    matrices = sum(operand(case, name).elements for name in ("w_dq", "w_uq_qr", "w_uk", "w_dkv_kr"))
    return Work("published count", input_bytes(case), _TWO_BYTES * sizes.results, cube_flops={DType.BFLOAT16: 2.0 * sizes.tokens * matrices})


def mla_prolog_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """The products with tiles searched for; norms and rotations on the vector cores, in half: intermediates are not rounded to bfloat16.

    3 instructions for each normalised element (MulAddDst, Mul, Mul) and 2 for each rotated one (Mul, MulAddDst).
    """
    sizes = _sizes(case)
    tokens, normalised = sizes.tokens, sizes.tokens * (sizes.latent_query + sizes.latent)
    rotated = tokens * (sizes.heads + 1) * sizes.rotary
    path = handed_to_vector(normalised + rotated, chip) + handed_to_cube(tokens * sizes.latent_query, chip)
    lanes = {DType.FLOAT16: float(_NORMALISE * normalised + _ROTATE * rotated)}
    rest = Rest(input_bytes(case), _TWO_BYTES * sizes.results, lanes, path)
    return (product_work("", _stages(sizes, chip), rest, chip),)


def _stages(sizes: _Sizes, chip: Hardware) -> list[Stage]:
    """Both products with the tokens are one, since they share them; what w_uk multiplies comes from the accumulators straight into L1."""
    tokens, columns = sizes.tokens, sizes.heads * (sizes.head + sizes.rotary)
    down = _product(tokens, sizes.hidden, sizes.latent_query + sizes.latent + sizes.rotary, _TWO_BYTES * tokens * sizes.hidden)
    up = _product(tokens, sizes.latent_query, columns, read_by_cube_bytes(tokens * sizes.latent_query, chip))
    per_head = _product(tokens, sizes.head, sizes.latent, 0.0, sizes.heads)
    return [Stage("w_dq and w_dkv_kr", (down,)), Stage("w_uq_qr", (up,)), Stage("w_uk", (per_head,))]


def _product(m: int, k: int, n: int, left_gm_bytes: float, count: int = 1) -> Product:
    return Product(m, k, n, DType.BFLOAT16, left_gm_bytes, float(_TWO_BYTES * k * n), count)


def _sizes(case: Case) -> _Sizes:
    batch, rows, hidden = operand(case, "token_x").shape
    _heads, head, latent = operand(case, "w_uk").shape
    rotary = operand(case, "rope_sin").shape[-1]
    return _Sizes(batch * rows, hidden, operand(case, "w_dq").shape[1], int(number(case, "n_heads")), head, rotary, latent)


FORMULAS = {
    "mla_prolog": Formula(frozenset({"n_heads", "rmsnorm_epsilon_cq", "rmsnorm_epsilon_ckv"}), mla_prolog_convention, mla_prolog_silicon),
}
