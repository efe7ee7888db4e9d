"""Sums of rows by segment, in any order of the rows: the defining code of `unsorted_segment_sum`."""

import torch


def unsorted_segment_sum(data: torch.Tensor, segment_ids: torch.Tensor, num_segments: int) -> torch.Tensor:
    """y[s] = sum of data[i] over all i with segment_ids[i] = s, shape [num_segments, ...]; dtype of data.

    data is [N, ...], segment_ids [N] with values in [0, num_segments). A segment without rows is zero. float16 and bfloat16 are summed in float32 and rounded
    once at the end; integers wrap around. Raises IndexError (or RuntimeError) for ids outside of the range.
    """
    wide = data.float() if data.dtype in (torch.float16, torch.bfloat16) else data
    sums = torch.zeros((num_segments, *data.shape[1:]), dtype=wide.dtype)
    return sums.index_add_(0, segment_ids, wide).to(data.dtype)
