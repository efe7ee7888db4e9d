"""Re-routing of tokens from the order of ranks to the order of experts: the defining code of `moe_re_routing`."""

import torch


def moe_re_routing(
    tokens: torch.Tensor,
    expert_token_num_per_rank: torch.Tensor,
    per_token_scales: torch.Tensor | None = None,
    expert_token_num_type: int = 1,
    idx_type: int = 0,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows of tokens [A, H], which lie block after block by (rank, expert), put into the order (expert, rank); the order inside a block stays.

    expert_token_num_per_rank [N, E] holds the lengths of the blocks; they sum to A. Returns the tokens [A, H], their scales [A] (zeros without
    per_token_scales), int32 indices [A] (0: where each new row came from, 1: where each old row went) and the rows per expert [E] (1) or their running sum (0).
    Raises ValueError for counts that do not sum to A.
    """
    counts = expert_token_num_per_rank.long()
    rows = tokens.shape[0]
    if int(counts.sum()) != rows:
        raise ValueError(f"the counts sum to {int(counts.sum())}, there are {rows} tokens")
    source = _source_rows(counts)
    target = torch.empty_like(source)
    target[source] = torch.arange(rows)
    scales = torch.zeros(rows, dtype=torch.float32) if per_token_scales is None else per_token_scales[source]
    per_expert = counts.sum(0)
    totals = per_expert if expert_token_num_type == 1 else per_expert.cumsum(0)
    index = source if idx_type == 0 else target
    return tokens[source], scales, index.int(), totals.to(expert_token_num_per_rank.dtype)


def _source_rows(counts: torch.Tensor) -> torch.Tensor:
    """For every row of the new order the row of the old one; counts is [N, E]."""
    ends = counts.reshape(-1).cumsum(0).reshape(counts.shape)
    starts, lengths = (ends - counts).T.reshape(-1), counts.T.reshape(-1)
    # A row's place inside its block is its new place less the new start of the block.
    shift = starts - (lengths.cumsum(0) - lengths)
    return torch.arange(int(counts.sum())) + torch.repeat_interleave(shift, lengths)


def get_input(
    tokens: torch.Tensor,
    expert_token_num_per_rank: torch.Tensor,
    per_token_scales: torch.Tensor | None = None,
    expert_token_num_type: int = 1,
    idx_type: int = 0,
    seed: int = 0,
) -> list[torch.Tensor | None]:
    """The same tokens and scales, with counts that sum to the number of tokens: at least 1 each where there are enough, as uneven as the drawn numbers are."""
    shape, rows = expert_token_num_per_rank.shape, tokens.shape[0]
    blocks = expert_token_num_per_rank.numel()
    least = 1 if rows >= blocks else 0
    generator = torch.Generator().manual_seed(seed)
    weights = torch.rand(blocks, generator=generator, dtype=torch.float64).square_().add_(0.01)
    ends = (weights.cumsum(0) / weights.sum() * (rows - least * blocks)).round().long()
    ends[-1] = rows - least * blocks
    counts = torch.diff(ends, prepend=torch.zeros(1, dtype=torch.long)) + least
    return [tokens, counts.reshape(shape).to(expert_token_num_per_rank.dtype), per_token_scales]
