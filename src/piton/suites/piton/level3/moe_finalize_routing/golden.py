"""Merging of what the experts of a mixture computed: the defining code of `moe_finalize_routing`."""

import torch

_COLUMN_MODES = (0, 1)
"""Values of drop_pad_mode under which expanded_src_to_dst_row counts tokens first; 2 and 3 count the choices of a token first."""
_PADDED_MODES = (1, 3)
"""Values under which every expert has a block of rows of its own, and rows beyond its capacity are dropped."""


def moe_finalize_routing(
    expanded_permuted_rows: torch.Tensor,
    expanded_src_to_dst_row: torch.Tensor,
    skip1: torch.Tensor | None = None,
    skip2: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
    expert_for_source_row: torch.Tensor | None = None,
    drop_pad_mode: int = 0,
) -> torch.Tensor:
    """skip1 + skip2 + sum over k of scales[:, k] * (row of the k-th choice + bias of its expert): [N, H] in the dtype of the rows.

    expanded_permuted_rows is [N * K, H] or [E, C, H]; expanded_src_to_dst_row [N * K] says in which of its rows each choice lies, -1 for none. K is the second
    axis of scales [N, K], 1 without it. Half types are summed in float32 and rounded once; temporaries: two of [N, H].
    """
    wide = torch.float64 if expanded_permuted_rows.dtype == torch.float64 else torch.float32
    rows = expanded_permuted_rows.reshape(-1, expanded_permuted_rows.shape[-1])
    choices = 1 if scales is None else scales.shape[1]
    places = _by_choice(expanded_src_to_dst_row, choices, drop_pad_mode).long()
    out = torch.zeros(places.shape[1], rows.shape[1], dtype=wide)
    for skip in (skip1, skip2):
        if skip is not None:
            out += skip
    for choice, place in enumerate(places):
        term = rows[place.clamp_min(0)].to(wide)
        if bias is not None and expert_for_source_row is not None:
            term += _bias_rows(bias, expert_for_source_row[:, choice].long()).to(wide)
        if scales is not None:
            term *= scales[:, choice, None].to(wide)
        # A dropped choice adds nothing, whatever row 0 and the bias hold.
        out += term.masked_fill_((place < 0)[:, None], 0.0)
    return out.to(expanded_permuted_rows.dtype)


def _by_choice(flat: torch.Tensor, choices: int, drop_pad_mode: int) -> torch.Tensor:
    """One value per (token, choice), given in the order of the mode, as [K, N]."""
    return flat.reshape(choices, -1) if drop_pad_mode in _COLUMN_MODES else flat.reshape(-1, choices).T


def _bias_rows(bias: torch.Tensor, expert: torch.Tensor) -> torch.Tensor:
    """The bias of every token's expert; zeros for a number that is no expert, such as the mark of a finished token."""
    is_none = (expert < 0) | (expert >= bias.shape[0])
    return bias[expert.clamp(0, bias.shape[0] - 1)].masked_fill_(is_none[:, None], 0.0)


def get_input(
    expanded_permuted_rows: torch.Tensor,
    expanded_src_to_dst_row: torch.Tensor,
    skip1: torch.Tensor | None = None,
    skip2: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
    expert_for_source_row: torch.Tensor | None = None,
    drop_pad_mode: int = 0,
    seed: int = 0,
) -> list[torch.Tensor | None]:
    """The same inputs with a routing that fits together: K different experts per token, and every choice in a row of its own.

    Without padding the rows are sorted by expert. With padding each choice lies in the block of its expert, in the order of the choices; those that find the
    block full are dropped (-1). Without expert_for_source_row the experts are random and stay unknown to the operator.
    """
    generator = torch.Generator().manual_seed(seed)
    choices = 1 if scales is None else scales.shape[1]
    tokens = expanded_src_to_dst_row.numel() // choices
    is_padded = drop_pad_mode in _PADDED_MODES
    experts = expanded_permuted_rows.shape[0] if is_padded else bias.shape[0] if bias is not None else max(choices, 8)
    expert = _draw_experts((tokens, choices), experts, generator)
    flat = (expert.T if drop_pad_mode in _COLUMN_MODES else expert).reshape(-1)
    place = _padded_places(flat, experts, expanded_permuted_rows.shape[1]) if is_padded else _sorted_places(flat)
    source = place.to(expanded_src_to_dst_row.dtype).reshape(expanded_src_to_dst_row.shape)
    known = None if expert_for_source_row is None else expert.to(expert_for_source_row.dtype)
    return [expanded_permuted_rows, source, skip1, skip2, bias, scales, known]


def _draw_experts(shape: tuple[int, int], experts: int, generator: torch.Generator) -> torch.Tensor:
    """[N, K] experts, different ones for a token as far as there are enough: steps around the circle of all, from a random first one."""
    first = torch.randint(experts, (shape[0], 1), generator=generator)
    steps = torch.randperm(max(experts, shape[1]), generator=generator)[: shape[1]]
    return (first + (steps - steps[0])) % experts


def _sorted_places(expert: torch.Tensor) -> torch.Tensor:
    """The row of every choice when all are sorted by expert."""
    place = torch.empty_like(expert)
    place[expert.argsort(stable=True)] = torch.arange(expert.numel())
    return place


def _padded_places(expert: torch.Tensor, experts: int, capacity: int) -> torch.Tensor:
    """The row of every choice in blocks of `capacity` rows per expert; -1 where the block is full."""
    counts = torch.bincount(expert, minlength=experts)
    inside = _sorted_places(expert) - (counts.cumsum(0) - counts)[expert]
    return torch.where(inside < capacity, expert * capacity + inside, -1)
