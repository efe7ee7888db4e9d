"""Gated recurrent units over a sequence, in layers and directions: the defining code of `gru`."""

import torch

PROJECTED = 1 << 22
"""Elements of the projected inputs that exist at a time: the steps are taken in blocks."""
Weights = tuple[torch.Tensor, ...]


def gru(
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
    bias_ih: list[torch.Tensor] | None = None,
    bias_hh: list[torch.Tensor] | None = None,
    h0: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The states of the last layer at every step, and the last state of every layer and direction, as (y, hn).

    x [T, B, inputSize], or [B, T, inputSize] with `batchFirst`; the lists hold one tensor for each layer and direction (forward first): weight_ih [3 H, I] with
    I = inputSize in the first layer and directions * H above, weight_hh [3 H, H], biases [3 H], H = hiddenSize, rows in the order reset, update, candidate. h0
    and hn [layers * directions, B, H], y [T, B, directions * H] or batch first, in the dtype of x. Without h0 the states begin at 0; without `bias` or either
    list there are no biases; dropout is for training and does nothing. float16 and bfloat16 are computed in float32, states included, and rounded at the end.
    """
    wide = torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype
    sequence, directions = x.transpose(0, 1) if batchFirst else x, 2 if bidirectional else 1
    steps, batch = sequence.shape[:2]
    zero = torch.zeros(1, dtype=wide)
    hn = torch.empty(numLayers * directions, batch, hiddenSize, dtype=x.dtype)
    for layer in range(numLayers):
        states = torch.empty(steps, batch, directions * hiddenSize, dtype=wide)
        for way in range(directions):
            at = layer * directions + way
            biases = (zero, zero) if not bias or bias_ih is None or bias_hh is None else (bias_ih[at].to(wide), bias_hh[at].to(wide))
            weights = (weight_ih[at].to(wide).t(), weight_hh[at].to(wide).t(), *biases)
            start = zero.expand(batch, hiddenSize) if h0 is None else h0[at].to(wide)
            own = states[..., way * hiddenSize : (way + 1) * hiddenSize]
            hn[at] = _recur(sequence, weights, start, own, is_backward=way == 1)
        sequence = states
    return (sequence.transpose(0, 1) if batchFirst else sequence).to(x.dtype).contiguous(), hn


def _recur(sequence: torch.Tensor, weights: Weights, state: torch.Tensor, states: torch.Tensor, is_backward: bool) -> torch.Tensor:
    """Run one layer in one direction from `state`: write the state of every step to `states` and return the last one."""
    from_input, from_state, input_bias, state_bias = weights
    (steps, batch), hidden = sequence.shape[:2], state.shape[-1]
    order = range(steps)[::-1] if is_backward else range(steps)
    block = max(1, PROJECTED // max(1, batch * from_input.shape[1]))
    for begin in range(0, steps, block):
        part = order[begin : begin + block]
        low = min(part)
        projected = torch.matmul(sequence[low : low + len(part)].to(state.dtype), from_input).add_(input_bias)
        for step in part:
            given, recurrent = projected[step - low], torch.matmul(state, from_state).add_(state_bias)
            reset, update = torch.sigmoid(given[:, : 2 * hidden] + recurrent[:, : 2 * hidden]).chunk(2, -1)
            candidate = torch.tanh(given[:, 2 * hidden :] + reset * recurrent[:, 2 * hidden :])
            state = (1 - update) * candidate + update * state
            states[step] = state
    return state
