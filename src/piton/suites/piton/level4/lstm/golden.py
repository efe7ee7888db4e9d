"""Long short-term memory over a sequence, in layers and directions, with an optional projection of the state: the defining code of `lstm`."""

import torch

PROJECTED = 1 << 22
"""Elements of the projected inputs that exist at a time: the steps are taken in blocks."""
Weights = tuple[torch.Tensor, ...]


def lstm(
    x: torch.Tensor,
    weight_ih: list[torch.Tensor],
    weight_hh: list[torch.Tensor],
    inputSize: int,
    hiddenSize: int,
    numLayers: int = 1,
    bias: bool = True,
    batchFirst: bool = False,
    dropout: float = 0.0,
    bidirectional: bool = False,
    projSize: int = 0,
    bias_ih: list[torch.Tensor] | None = None,
    bias_hh: list[torch.Tensor] | None = None,
    weight_hr: list[torch.Tensor] | None = None,
    h0: torch.Tensor | None = None,
    c0: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The states of the last layer at every step, and the last state and cell of every layer and direction, as (y, hn, cn).

    x [T, B, inputSize], or [B, T, inputSize] with `batchFirst`; the lists hold one tensor for each layer and direction (forward first): weight_ih [4 H, I] with
    I = inputSize in the first layer and directions * P above, weight_hh [4 H, P], biases [4 H], weight_hr [P, H], H = hiddenSize, P = projSize where that is
    above 0 and H else, rows in the order input, forget, candidate, output. h0 and hn [layers * directions, B, P], c0 and cn [layers * directions, B, H], y
    [T, B, directions * P] or batch first, in the dtype of x. Without h0 or c0 states or cells begin at 0; without `bias` or either list there are no biases;
    dropout is for training and does nothing. float16 and bfloat16 are computed in float32, states and cells included, and rounded at the end. Raises ValueError
    for projSize without weight_hr.
    """
    if projSize > 0 and weight_hr is None:
        raise ValueError("projSize is above 0, but weight_hr is not given")
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    sequence, directions, size = x.transpose(0, 1) if batchFirst else x, 2 if bidirectional else 1, projSize or hiddenSize
    steps, batch = sequence.shape[:2]
    zero = torch.zeros(1, dtype=wide)
    hn, cn = (torch.empty(numLayers * directions, batch, width, dtype=x.dtype) for width in (size, hiddenSize))
    for layer in range(numLayers):
        states = torch.empty(steps, batch, directions * size, dtype=wide)
        for way in range(directions):
            at = layer * directions + way
            biases = (zero, zero) if not bias or bias_ih is None or bias_hh is None else (bias_ih[at].to(wide), bias_hh[at].to(wide))
            projection = (weight_hr[at].to(wide).t(),) if projSize > 0 and weight_hr is not None else ()
            weights = (weight_ih[at].to(wide).t(), weight_hh[at].to(wide).t(), biases[0] + biases[1], *projection)
            start = zero.expand(batch, size) if h0 is None else h0[at].to(wide)
            cell = zero.expand(batch, hiddenSize) if c0 is None else c0[at].to(wide)
            hn[at], cn[at] = _recur(sequence, weights, (start, cell), states[..., way * size : (way + 1) * size], is_backward=way == 1)
        sequence = states
    return (sequence.transpose(0, 1) if batchFirst else sequence).to(x.dtype).contiguous(), hn, cn


def _recur(sequence: torch.Tensor, weights: Weights, begin: tuple[torch.Tensor, torch.Tensor], states: torch.Tensor, is_backward: bool) -> Weights:
    """Run one layer in one direction from a state and a cell: write the state of every step to `states` and return the last state and cell."""
    from_input, from_state, bias, *projection = weights
    (steps, batch), (state, cell) = sequence.shape[:2], begin
    order = range(steps)[::-1] if is_backward else range(steps)
    block = max(1, PROJECTED // max(1, batch * from_input.shape[1]))
    for first in range(0, steps, block):
        part = order[first : first + block]
        low = min(part)
        projected = torch.matmul(sequence[low : low + len(part)].to(state.dtype), from_input).add_(bias)
        for step in part:
            enter, keep, candidate, show = (projected[step - low] + torch.matmul(state, from_state)).chunk(4, -1)
            cell = torch.sigmoid(keep) * cell + torch.sigmoid(enter) * torch.tanh(candidate)
            state = torch.sigmoid(show) * torch.tanh(cell)
            if projection:
                state = torch.matmul(state, projection[0])
            states[step] = state
    return state, cell
