"""Work of attention, against small cases counted by hand."""

from __future__ import annotations

import pytest
from work_cases import BRAIN, CHIP, HALF, NEWER, WORD, call, moved, only, tensor

from piton.anchors.attention import mha_convention, mha_silicon, mla_convention, mla_silicon, sparse_flash_attention_convention, sparse_flash_attention_silicon
from piton.anchors.latent_projections import mla_prolog_convention, mla_prolog_silicon
from piton.anchors.work import Work
from piton.core.case import Case
from piton.core.hardware import Hardware


def attend(rows: int, columns: int, *, is_causal: bool, heads: int = 2, groups: int = 2, batch: int = 1) -> Case:
    """Heads of 16 elements."""
    keys = (tensor(name, (batch, columns, groups, 16), HALF) for name in ("key", "value"))
    return call(tensor("query", (batch, rows, heads, 16), HALF), *keys, scaleValue=-1.0, is_causal=is_causal)


def flops(work: Work) -> float:
    (amount,) = work.cube_flops.values()
    return amount


def test_attention_reads_queries_keys_and_values_once() -> None:
    work = only(mha_silicon(attend(3, 5, is_causal=False), CHIP))
    assert moved(work) == ((3 + 5 + 5) * 2 * 16 * 2, 3 * 2 * 16 * 2)
    assert work.cube_flops == {HALF: 2 * (2 * 3 * 5 * 16) + 2 * (2 * 3 * 16 * 5)}
    assert not work.writes_from_cube


def test_operands_of_both_products_and_what_passes_between_them_goes_over_l2() -> None:
    """2 heads of one fractal and one step each, on two of 24 cores: the amounts of both, times 12; scores and results to the vector cores as half."""
    work = only(mha_silicon(attend(3, 5, is_causal=False), CHIP))
    assert work.path is not None
    scores, values = 2 * (3 * 16 * 2 + 5 * 16 * 2), 2 * (3 * 5 * 2 + 5 * 16 * 2)
    assert work.path.l2_read_bytes == 12 * (scores + values) + 2 * (2 * 3 * 5) + 2 * (2 * 3 * 16)
    assert work.path.l0c_elements == 12 * (2 * 3 * 5 + 2 * 3 * 16)


def test_a_causal_row_sees_itself_and_the_columns_before_it() -> None:
    """4 rows see 1, 2, 3 and 4 columns: 4 x 5 / 2 = 10 pairs in each of 2 heads."""
    work = only(mha_silicon(attend(4, 4, is_causal=True), CHIP))
    assert flops(work) == pytest.approx(4 * 16 * 2 * 10)
    assert work.vector_lanes == {HALF: 2 * 10 + 4 * 2 * 16}  # Exp for a pair, Mul for a result
    assert moved(work) == moved(only(mha_silicon(attend(4, 4, is_causal=False), CHIP)))


def test_the_last_row_of_fewer_rows_than_columns_sees_all_of_them() -> None:
    """Rows 0 and 1 of 2 see the columns up to 0 + 5 - 2 and 1 + 5 - 2: 4 + 5 pairs."""
    assert flops(only(mha_silicon(attend(2, 5, is_causal=True), CHIP))) == pytest.approx(4 * 16 * 2 * 9)


def test_rows_that_see_nothing_are_zeros_and_their_queries_are_not_read() -> None:
    """4 rows and 2 columns: rows see 0, 0, 1 and 2 columns."""
    work = only(mha_silicon(attend(4, 2, is_causal=True), CHIP))
    assert flops(work) == pytest.approx(4 * 16 * 2 * 3)
    assert moved(work) == ((2 + 2 + 2) * 2 * 16 * 2, 4 * 2 * 16 * 2)


def test_rows_that_see_nothing_pass_over_no_path_and_no_lane() -> None:
    """4 rows and 2 columns: the last 2 rows see 1 and 2 columns, 3 pairs of 2 heads; one head on each of two of 24 cores, the amounts of both times 12."""
    work = only(mha_silicon(attend(4, 2, is_causal=True), CHIP))
    assert work.path is not None
    queries, keys, weights = 2 * 16 * 2, 2 * 16 * 2, 3 * 2  # bytes of a head
    assert work.path.l2_read_bytes == pytest.approx(12 * 2 * (queries + keys + weights + keys) + 2 * (2 * 3) + 2 * (2 * 2 * 16))
    assert work.path.mte3_bytes == 2 * (2 * 3)
    assert work.vector_lanes == {HALF: 2 * 3 + 2 * 2 * 16}  # Exp for a pair, Mul for a result that is no constant
    assert work.write_bytes == 4 * 2 * 16 * 2  # zeros are written


def test_more_rows_that_see_nothing_cost_writes_only() -> None:
    few, many = (only(mha_silicon(attend(rows, 2, is_causal=True), CHIP)) for rows in (2, 200))
    assert (many.path, many.vector_lanes, many.read_bytes) == (few.path, few.vector_lanes, few.read_bytes)
    assert many.write_bytes == 100 * few.write_bytes


def test_without_columns_the_result_is_written_and_nothing_else_happens() -> None:
    work = only(mha_silicon(attend(4, 0, is_causal=False), CHIP))
    assert (moved(work), work.cube_flops, work.choice) == ((0, 4 * 2 * 16 * 2), {}, "nothing is seen")


@pytest.mark.parametrize(("chip", "handed"), [(CHIP, 2), (NEWER, 0)])
def test_scores_have_a_short_way_on_the_newer_architecture(chip: Hardware, handed: int) -> None:
    work = only(mha_silicon(attend(4, 4, is_causal=False), chip))
    assert work.vector_lanes == {HALF: 2 * 16 + 4 * 2 * 16}
    assert work.path is not None
    assert work.path.mte3_bytes == handed * 2 * 16  # half weights of 2 heads x 4 x 4 pairs


def test_heads_that_share_keys_read_them_once() -> None:
    works = [only(mha_silicon(attend(3, 5, is_causal=False, heads=4, groups=groups), CHIP)) for groups in (4, 2)]
    assert [work.read_bytes for work in works] == [(3 * 4 + 2 * 5 * 4) * 16 * 2, (3 * 4 + 2 * 5 * 2) * 16 * 2]
    assert works[0].cube_flops == works[1].cube_flops == {HALF: 4 * 16 * 4 * 15}


def test_twice_the_batch_is_twice_everything() -> None:
    one, two = (only(mha_silicon(attend(3, 5, is_causal=True, batch=batch), CHIP)) for batch in (1, 2))
    assert moved(two) == tuple(2 * size for size in moved(one))
    assert flops(two) == pytest.approx(2 * flops(one))
    assert two.vector_lanes[HALF] == 2 * one.vector_lanes[HALF]


@pytest.mark.parametrize(("rows", "columns", "pairs"), [(4, 4, (10.0, 8.0)), (2, 5, (9.0, 10.0))])
def test_the_editions_count_causal_pairs_in_another_way(rows: int, columns: int, pairs: tuple[float, float]) -> None:
    """910b2 counts what is seen; 950pr S^2 / 2 = 8 for S = T = 4, and all 2 x 5 for 2 rows and 5 columns."""
    counted = [mha_convention(attend(rows, columns, is_causal=True), edition) for edition in ("910b2", "950pr")]
    assert [flops(work) for work in counted] == [4 * 16 * 2 * amount for amount in pairs]


def latent(layout: str, *, is_causal: bool = False) -> Case:
    """2 rows, 3 columns, 4 heads and one of keys; 16 columns without and 8 with rotary position."""

    def at(name: str, length: int, heads: int, width: int) -> tuple[str, tuple[int, ...]]:
        return name, (1, length, heads, width) if layout == "BSND" else (1, heads, length, width)

    shapes = (at("q_nope", 2, 4, 16), at("q_rope", 2, 4, 8), at("k_nope", 3, 1, 16), at("k_rope", 3, 1, 8), at("v", 3, 1, 16))
    return call(*(tensor(name, shape, BRAIN) for name, shape in shapes), numKVHeads=1, scaleValue=-1.0, inputLayout=layout, is_causal=is_causal)


@pytest.mark.parametrize("layout", ["BSND", "BNSD"])
def test_latent_attention_does_not_read_its_values_again(layout: str) -> None:
    work = only(mla_silicon(latent(layout), CHIP))
    assert moved(work) == ((2 * 4 * (16 + 8) + 3 * (16 + 8)) * 2, 2 * 4 * 16 * 2)
    assert work.cube_flops == {BRAIN: 2 * (4 * 2 * 3) * (16 + 8) + 2 * (4 * 2 * 3) * 16}
    assert mla_convention(latent(layout), "910b2").read_bytes == work.read_bytes


def test_a_causal_mask_leaves_pairs_of_latent_attention_out() -> None:
    """2 rows see 2 and 3 of 3 columns."""
    assert flops(only(mla_silicon(latent("BSND", is_causal=True), CHIP))) == pytest.approx(2 * (4 * 5) * (16 + 8 + 16))


def test_rows_of_latent_attention_that_see_nothing_have_no_queries_to_read() -> None:
    """5 rows and 3 columns: the first two see none."""
    shapes = {"q_nope": (1, 5, 4, 16), "q_rope": (1, 5, 4, 8), "k_nope": (1, 3, 1, 16), "k_rope": (1, 3, 1, 8), "v": (1, 3, 1, 16)}
    case = call(*(tensor(name, shape, BRAIN) for name, shape in shapes.items()), numKVHeads=1, scaleValue=-1.0, inputLayout="BSND", is_causal=True)
    assert moved(only(mla_silicon(case, CHIP))) == ((3 * 4 * (16 + 8) + 3 * (16 + 8)) * 2, 5 * 4 * 16 * 2)


def sparse(columns: int, places: int, *, is_causal: bool = False) -> Case:
    """3 rows of 4 heads, 2 heads of keys of 16 elements, whose first 8 are the values."""
    tensors = (
        tensor("query", (1, 3, 4, 16), HALF),
        tensor("key", (1, columns, 2, 16), HALF),
        tensor("value", (1, columns, 2, 8), HALF),
        tensor("sparseIndices", (1, 3, 2, places), WORD),
    )
    return call(*tensors, scaleValue=0.1, inputLayout="BSND", is_causal=is_causal)


def test_sparse_attention_needs_at_least_as_many_keys_as_one_row_selects() -> None:
    work = only(sparse_flash_attention_silicon(sparse(10, 5), CHIP))
    assert moved(work) == (3 * 4 * 16 * 2 + 3 * 2 * 5 * 4 + 5 * 2 * 16 * 2, 3 * 4 * 8 * 2)
    assert work.cube_flops == {HALF: 2 * (4 * 3 * 5) * (16 + 8)}


def test_more_places_than_keys_select_every_key_once() -> None:
    work = only(sparse_flash_attention_silicon(sparse(4, 5), CHIP))
    assert work.read_bytes == 3 * 4 * 16 * 2 + 3 * 2 * 5 * 4 + 4 * 2 * 16 * 2
    assert work.cube_flops == {HALF: 2 * (4 * 3 * 4) * (16 + 8)}


def test_under_a_causal_mask_row_i_may_have_the_last_keys_hidden() -> None:
    """Rows 0, 1 and 2 of 3 still see at least 3, 4 and 5 of 5 selected keys."""
    assert flops(only(sparse_flash_attention_silicon(sparse(10, 5, is_causal=True), CHIP))) == pytest.approx(2 * 4 * (3 + 4 + 5) * (16 + 8))


def test_the_editions_read_other_rows_of_the_cache() -> None:
    """910b2 up to 3 x 5 of 10 rows for each head, 950pr 5."""
    older, newer = (sparse_flash_attention_convention(sparse(10, 5), edition) for edition in ("910b2", "950pr"))
    assert older.read_bytes - newer.read_bytes == 2 * (10 - 5) * (16 + 8) * 2
    assert [sum(work.vector_lanes.values()) for work in (older, newer)] == [11 * 4 * 3 * 5, 8 * 4 * 3 * 5]


def prolog(tokens: int = 2) -> Case:
    """Tokens of 32, latent queries of 16, 3 heads of 8 and 4 rotary columns, latent cache of 24."""
    shapes = {
        "token_x": (tokens, 1, 32),
        "w_dq": (32, 16),
        "w_uq_qr": (16, 3 * (8 + 4)),
        "w_uk": (3, 8, 24),
        "w_dkv_kr": (32, 24 + 4),
        "rmsnorm_gamma_cq": (16,),
        "rmsnorm_gamma_ckv": (24,),
        "rope_sin": (tokens, 1, 4),
        "rope_cos": (tokens, 1, 4),
    }
    return call(*(tensor(name, shape, BRAIN) for name, shape in shapes.items()), n_heads=3, rmsnorm_epsilon_cq=1e-5, rmsnorm_epsilon_ckv=1e-5)


def test_latent_projections_multiply_four_matrices() -> None:
    work = only(mla_prolog_silicon(prolog(), CHIP))
    weights = 32 * 16 + 16 * 36 + 3 * 8 * 24 + 32 * 28
    written = 2 * (3 * 24 + 3 * 4 + 24 + 4)
    assert moved(work) == ((2 * 32 + weights + 16 + 24 + 2 * (2 * 4)) * 2, written * 2)
    assert work.cube_flops == {BRAIN: 2 * 2 * weights}
    assert work.vector_lanes == {HALF: 3 * (2 * (16 + 24)) + 2 * (2 * (3 * 4 + 4))}
    assert work.path is not None
    assert work.path.mte3_bytes == 2 * (2 * 16)  # normalised latent queries, as half
    assert mla_prolog_convention(prolog(), "910b2").cube_flops == work.cube_flops
    assert mla_prolog_convention(prolog(), "910b2").write_bytes == work.write_bytes


def test_weights_and_tokens_go_over_l2() -> None:
    """Products large enough for every core: what is read over L2 is at least the weights and the tokens."""
    shapes = {"token_x": (256, 1, 2048), "w_dq": (2048, 512), "w_uq_qr": (512, 8 * 192), "w_uk": (8, 128, 512), "w_dkv_kr": (2048, 576)}
    others = {"rmsnorm_gamma_cq": (512,), "rmsnorm_gamma_ckv": (512,), "rope_sin": (256, 1, 64), "rope_cos": (256, 1, 64)}
    tensors = (tensor(name, shape, BRAIN) for name, shape in {**shapes, **others}.items())
    work = only(mla_prolog_silicon(call(*tensors, n_heads=8, rmsnorm_epsilon_cq=1e-5, rmsnorm_epsilon_ckv=1e-5), CHIP))
    assert work.path is not None
    assert work.path.l2_read_bytes >= 2 * (256 * 2048 + 2048 * (512 + 576) + 512 * 8 * 192 + 8 * 128 * 512)


def test_more_tokens_do_not_read_more_weights() -> None:
    one, two = (only(mla_prolog_silicon(prolog(tokens), CHIP)).read_bytes for tokens in (1, 2))
    assert two - one == (32 + 2 * 4) * 2
