"""Work formulas of attention: mha, gqa, mla and sparse_flash_attention.

Pairs: a row and a column that it sees. Without a mask every row sees all T columns. With `is_causal` row i of S sees the columns up to i + T - S, itself
included: for S = T the first row sees 1 and the last one all, S (S + 1) / 2 pairs together.
Products: scores = query x keys over D, and result = weights x values over the columns; heads that share keys are rows of one product.
Bytes: queries, keys and values are read once and the result is written once; scores stay on the chip. On dav-2201, where cube and vector cores have no way to
one another but global memory, scores and weights pass through L2 as half.
Instructions for each pair, in half: Exp. Scores may be known to be small, and then no running maximum has to be found and subtracted; the scale is a factor of
the queries, the sum of the weights a column of ones behind the values, and the division by it one Mul for each result. How `convention` and `silicon` are
meant is said in `elementwise`.
"""

from __future__ import annotations

from dataclasses import dataclass

from piton.anchors.cube_work import Rest, Stage, handed_to_cube, handed_to_vector, product_work, read_by_cube_bytes
from piton.anchors.formula import Formula
from piton.anchors.operands import flag, input_bytes, operand, text
from piton.anchors.tiles import Product
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.dtype import DType
from piton.core.hardware import Edition, Hardware

_TWO_BYTES = 2
"""Bytes of an element: attention takes float16 and bfloat16 only."""


@dataclass(frozen=True)
class Attention:
    """The sizes of one case."""

    batch: int
    rows: int
    columns: int
    heads: int
    groups: int
    """Heads of keys and values."""
    width: int
    """Elements that a score sums over."""
    value_width: int
    is_causal: bool
    dtype: DType

    @property
    def pairs_per_head(self) -> int:
        """Pairs of a row and a column that it sees, for one head."""
        if not self.is_causal:
            return self.rows * self.columns
        return sum(self.columns_seen())

    def columns_seen(self) -> tuple[int, ...]:
        """For each row under the causal mask, how many columns it sees; none where there are more rows than columns and it is one of the first."""
        return tuple(max(0, row + self.columns - self.rows + 1) for row in range(self.rows))

    @property
    def pairs(self) -> int:
        """Of all heads and batch items."""
        return self.batch * self.heads * self.pairs_per_head

    @property
    def rows_that_see(self) -> int:
        """Rows of one head that see any column; the others are zeros."""
        return sum(seen > 0 for seen in self.columns_seen()) if self.is_causal else self.rows

    @property
    def results(self) -> int:
        """Elements of the result."""
        return self.batch * self.rows * self.heads * self.value_width

    @property
    def results_that_see(self) -> int:
        """Elements of the result in rows that see any column."""
        return self.batch * self.rows_that_see * self.heads * self.value_width


def published_pairs(sizes: Attention, edition: Edition) -> float:
    """Pairs as the published anchors count them. Edition 910b2: all. Edition 950pr: S^2 / 2 for S = T, and all S T, mask or not, for S other than T."""
    if not sizes.is_causal or edition == "910b2":
        return float(sizes.pairs)
    per_head = sizes.rows**2 / 2 if sizes.rows == sizes.columns else sizes.rows * sizes.columns
    return sizes.batch * sizes.heads * per_head


def published(sizes: Attention, read_bytes: int, pairs: float, lanes_per_pair: int) -> Work:
    """Published anchors: 2 operations for each pair and element of a key and of a value, some float32 lane instructions for each pair."""
    flops = {sizes.dtype: 2.0 * pairs * (sizes.width + sizes.value_width)}
    return Work("published count", read_bytes, _TWO_BYTES * sizes.results, flops, {DType.FLOAT32: lanes_per_pair * pairs})


def works(sizes: Attention, read_bytes: int, chip: Hardware, *, values_are_keys: bool = False) -> tuple[Work, ...]:
    """The physical work: both products under every pair of tiles, softmax on the vector cores between them, one Mul for each result after them.

    Rows that see no column are only written, as zeros: neither cube nor vector lanes work on them. There has to be a row that sees one.
    `read_bytes` are the compulsory ones. `values_are_keys` is said of a latent cache, whose values are in L1 with the keys.
    """
    seeing = sizes.rows_that_see
    count, lines, share = sizes.batch * sizes.groups, seeing * (sizes.heads // sizes.groups), sizes.pairs_per_head / (seeing * sizes.columns)
    keys, values = (float(_TWO_BYTES * sizes.columns * width) for width in (sizes.width, sizes.value_width))
    queries, weights = float(_TWO_BYTES * lines * sizes.width), read_by_cube_bytes(lines * sizes.columns * share, chip)
    scored = Product(lines, sizes.width, sizes.columns, sizes.dtype, queries, keys, count, share)
    weighted = Product(lines, sizes.columns, sizes.value_width, sizes.dtype, weights, 0.0 if values_are_keys else values, count, share)
    worked_on = sizes.pairs + sizes.results_that_see
    path = handed_to_vector(worked_on, chip) + handed_to_cube(sizes.pairs, chip)
    lanes = {DType.FLOAT16: float(worked_on)}
    rest = Rest(read_bytes, _TWO_BYTES * sizes.results, lanes, path, writes_from_cube=False)
    return (product_work("", [Stage("scores", (scored,)), Stage("values", (weighted,))], rest, chip),)


def mha_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: query, key and value read, 4 D operations and 8 float32 lane instructions for each pair of a row and a column that it sees."""
    sizes = _split_heads(case)
    return published(sizes, input_bytes(case), published_pairs(sizes, edition), 8)


def mha_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """Scores and weighted values as two products with tiles searched for, and softmax between them: Exp for each pair.

    Under a causal mask pairs that aren't seen cost nothing; rows that see no column are zeros, whose queries aren't read.
    """
    sizes = _split_heads(case)
    unread = _TWO_BYTES * sizes.batch * sizes.heads * sizes.width * (sizes.rows - sizes.rows_that_see)
    return works(sizes, input_bytes(case) - unread, chip) if sizes.pairs else (_zeros(sizes),)


def _split_heads(case: Case) -> Attention:
    """query [B, S, N, D], key and value [B, T, M, D]; mha has M = N."""
    (batch, rows, heads, width), (_, columns, groups, _) = operand(case, "query").shape, operand(case, "key").shape
    return Attention(batch, rows, columns, heads, groups, width, width, flag(case, "is_causal"), operand(case, "query").dtype)


def _zeros(sizes: Attention) -> Work:
    return Work("nothing is seen", 0, _TWO_BYTES * sizes.results)


def mla_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: all inputs but v read, which equals k_nope; 2 (2 D + R) operations and 8 float32 lane instructions for each pair."""
    sizes = _latent(case)
    return published(sizes, input_bytes(case) - operand(case, "v").nbytes, published_pairs(sizes, edition), 8)


def mla_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """As gqa, over keys of D + R elements; v is k_nope by its definition, is not read again, and its columns lie in L1 with the keys."""
    sizes = _latent(case)
    unread = _TWO_BYTES * sizes.batch * sizes.heads * sizes.width * (sizes.rows - sizes.rows_that_see)
    read = input_bytes(case) - operand(case, "v").nbytes - unread
    return works(sizes, read, chip, values_are_keys=True) if sizes.pairs else (_zeros(sizes),)


def _latent(case: Case) -> Attention:
    """q_nope and q_rope [B, S, N, D] and [.., R], k_nope and k_rope [B, T, M, D] and [.., R]; BNSD has the middle axes swapped."""
    batch, rows, heads, width = _as_bsnd(case, "q_nope")
    _, columns, groups, _ = _as_bsnd(case, "k_nope")
    rotary = operand(case, "q_rope").shape[-1]
    return Attention(batch, rows, columns, heads, groups, width + rotary, width, flag(case, "is_causal"), operand(case, "q_nope").dtype)


def _as_bsnd(case: Case, name: str) -> tuple[int, int, int, int]:
    first, second, third, last = operand(case, name).shape
    return (first, second, third, last) if text(case, "inputLayout") == "BSND" else (first, third, second, last)


def sparse_flash_attention_convention(case: Case, edition: Edition) -> Work:
    """Published anchors: queries, indices and selected keys and values read, 2 (D + E) operations for each of the B N S k pairs, whatever the mask.

    Edition 910b2 reads up to S k rows of keys and values for each head and takes 11 float32 lane instructions for each pair, 950pr k rows and 8.
    """
    sizes, places = _selected(case), operand(case, "sparseIndices").shape[-1]
    rows = min(sizes.columns, places * (sizes.rows if edition == "910b2" else 1))
    cache = _TWO_BYTES * sizes.batch * sizes.groups * rows * (sizes.width + sizes.value_width)
    read = operand(case, "query").nbytes + operand(case, "sparseIndices").nbytes + cache
    return published(sizes, read, float(sizes.batch * sizes.heads * sizes.rows * places), 11 if edition == "910b2" else 8)


def sparse_flash_attention_silicon(case: Case, chip: Hardware) -> tuple[Work, ...]:
    """The least that any indices ask for: every row of a head selects the same keys, and so they are read once and multiplied with all rows.

    min(T, k) distinct keys are selected; under a causal mask row i may have up to S - 1 - i of them hidden. Values are the leading columns of the keys by
    their definition and not read again.
    """
    sizes, places = _selected(case), operand(case, "sparseIndices").shape[-1]
    chosen = min(sizes.columns, places)
    narrow = Attention(sizes.batch, sizes.rows, chosen, sizes.heads, sizes.groups, sizes.width, sizes.value_width, sizes.is_causal, sizes.dtype)
    keys = _TWO_BYTES * narrow.batch * narrow.groups * chosen * narrow.width
    queries = _TWO_BYTES * narrow.batch * narrow.heads * narrow.rows_that_see * narrow.width
    read = queries + operand(case, "sparseIndices").nbytes + keys
    return works(narrow, read, chip, values_are_keys=True) if narrow.pairs else (_zeros(narrow),)


def _selected(case: Case) -> Attention:
    """query [B, S, N, D], key [B, T, M, D], value [B, T, M, E]; BNSD has the middle axes swapped."""
    batch, rows, heads, width = _as_bsnd(case, "query")
    _, columns, groups, _ = _as_bsnd(case, "key")
    value_width = operand(case, "value").shape[-1]
    return Attention(batch, rows, columns, heads, groups, width, value_width, flag(case, "is_causal"), operand(case, "query").dtype)


FORMULAS = {
    "gqa": Formula(frozenset({"scaleValue", "is_causal"}), mha_convention, mha_silicon),
    "mha": Formula(frozenset({"scaleValue", "is_causal"}), mha_convention, mha_silicon),
    "mla": Formula(frozenset({"numKVHeads", "scaleValue", "inputLayout", "is_causal"}), mla_convention, mla_silicon),
    "sparse_flash_attention": Formula(frozenset({"scaleValue", "inputLayout", "is_causal"}), sparse_flash_attention_convention, sparse_flash_attention_silicon),
}
