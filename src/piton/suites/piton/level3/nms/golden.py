"""Greedy suppression of overlapping boxes: the defining code of `nms`."""

import torch

_EPSILON = 1e-6
"""Added to the union, so that two empty boxes overlap by 0."""
_HEAD = 32
"""Boxes of the highest scores that are looked at together; what they suppress is gone before the next ones are."""
_BLOCK = 1 << 12
"""Boxes that are compared with those kept at a time."""
_SIZES = ((17, 24), (31, 18), (19, 30))
"""Width and height of drawn boxes, in steps of their lattice; heights and then the later sizes give way until no IoU is near the threshold.

Heights differ by multiples of 6 and no width is one of 2 or 3: else a shift by a half or a third would be whole in some box whatever the heights are.
"""
_MARGIN = 2e-5
"""Distance of every IoU of drawn boxes from the threshold: some twenty times what float32 rounding moves it."""
_MOST_KEPT = 200
_MOST_COMPARED = 600_000_000
"""Kept boxes that an input is built for, and kept boxes times boxes: the work grows with that product."""


def nms(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Indices of the boxes that are kept, by descending score; boxes is [N, 4] with rows x1, y1, x2, y2, scores [N], the result [M] with M <= N.

    The box of the highest score is kept and all that do not have IoU <= iou_threshold with it are dropped; then the next, until none is left. Of equal scores
    the lower index comes first. Raises ValueError for other shapes.
    """
    if boxes.dim() != 2 or boxes.shape[1] != 4 or tuple(scores.shape) != (len(boxes),):
        raise ValueError(f"boxes {list(boxes.shape)} and scores {list(scores.shape)} are not [N, 4] and [N]")
    order = torch.sort(scores, descending=True, stable=True).indices
    left = boxes[order].T.contiguous()
    kept: list[torch.Tensor] = []
    while left.shape[1]:
        head = left[:, :_HEAD]
        chosen = _survivors(head, iou_threshold)
        kept.append(order[: head.shape[1]][chosen])
        alive = _alive(left[:, head.shape[1] :], head[:, chosen], iou_threshold)
        left, order = left[:, head.shape[1] :][:, alive], order[head.shape[1] :][alive]
    return torch.cat(kept) if kept else order


def _overlaps(first: torch.Tensor, second: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """[A, B]: whether boxes [4, A] suppress boxes [4, B]; an IoU that is NaN suppresses."""
    x1, y1, x2, y2 = first[:, :, None]
    u1, v1, u2, v2 = second[:, None, :]
    width = torch.minimum(x2, u2).sub_(torch.maximum(x1, u1)).clamp_(min=0)
    common = torch.minimum(y2, v2).sub_(torch.maximum(y1, v1)).clamp_(min=0).mul_(width)
    union = ((x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1)).sub_(common).add_(_EPSILON)
    return ~(common.div_(union) <= iou_threshold)


def _survivors(head: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Positions of the boxes of [4, A], in descending order of score, that no kept one before them suppresses."""
    overlaps = _overlaps(head, head, iou_threshold)
    is_dropped = torch.zeros(head.shape[1], dtype=torch.bool)
    for position in range(head.shape[1]):
        if not is_dropped[position]:
            is_dropped[position + 1 :] |= overlaps[position, position + 1 :]
    return (~is_dropped).nonzero()[:, 0]


def _alive(rest: torch.Tensor, kept: torch.Tensor, iou_threshold: float) -> torch.Tensor:
    """Positions of the boxes of [4, B] that none of `kept` [4, A] suppresses."""
    found = [torch.empty(0, dtype=torch.int64)]
    for start in range(0, rest.shape[1], _BLOCK):
        block = rest[:, start : start + _BLOCK]
        found.append((~_overlaps(kept, block, iou_threshold).any(dim=0)).nonzero()[:, 0] + start)
    return torch.cat(found)


def get_input(boxes: torch.Tensor, scores: torch.Tensor, iou_threshold: float, seed: int) -> list[torch.Tensor]:
    """Boxes of a few sizes on a lattice over the range of the given ones, and scores that are all different.

    On a lattice IoU takes few values, and the sizes are such that none of them is close to the threshold: a correct float32 kernel keeps the same boxes as
    float64. A row with an infinity or a NaN stays as it is, its corners in order. Scores are a random order of equally spaced bit patterns below 1.
    """
    generator = torch.Generator().manual_seed(seed)
    made = torch.cat([torch.minimum(boxes[:, :2], boxes[:, 2:]), torch.maximum(boxes[:, :2], boxes[:, 2:])], dim=1)
    is_finite = boxes.isfinite().all(dim=1)
    if is_finite.any() and boxes[is_finite].amin() < boxes[is_finite].amax():
        made[is_finite] = _lattice_boxes(boxes[is_finite], iou_threshold, generator)
    return [made, _distinct_scores(len(boxes), generator).to(scores.dtype)]


def _lattice_boxes(given: torch.Tensor, iou_threshold: float, generator: torch.Generator) -> torch.Tensor:
    """As many boxes as `given` has, over the same range, at lattice points chosen at random; a wider lattice keeps more boxes."""
    low, high = float(given.min()), float(given.max())
    count = len(given)
    sizes, points, unit = _lattice(count, high - low, iou_threshold)
    size = torch.tensor(sizes, dtype=torch.float64)[torch.randint(len(sizes), (count,), generator=generator)]
    corner = torch.randint(points + 1, (count, 2), generator=generator)
    return (torch.cat([corner, corner + size], dim=1) * unit + low).clamp(low, high).to(given.dtype)


def _lattice(count: int, span: float, iou_threshold: float) -> tuple[list[tuple[int, int]], int, float]:
    """Sizes of `count` boxes, and points and step of a lattice over `span`, so that no two boxes have an IoU within the margin of the threshold.

    Where there are none: those tried last.
    """
    sizes, points, unit = [_SIZES[0]], 0, 0.0
    for kinds, stretch in ((kinds, stretch) for kinds in range(len(_SIZES), 0, -1) for stretch in range(64)):
        sizes = [(width, height + stretch) for width, height in _SIZES[:kinds]]
        near = _crowd(sizes[0], iou_threshold)
        # A random filling keeps about 2.3 boxes per crowded neighbourhood and size.
        points = max(8, int((min(_MOST_KEPT, _MOST_COMPARED / count) * near / 7) ** 0.5))
        unit = span / (points + max(max(size) for size in sizes))
        if not _is_near_threshold(sizes, unit, iou_threshold):
            break
    return sizes, points, unit


def _crowd(size: tuple[int, int], iou_threshold: float) -> int:
    """Lattice steps between two boxes of one size at which one suppresses the other."""
    width, height = (torch.arange(-side, side + 1).abs().neg() + side for side in size)
    common = width[:, None] * height[None, :]
    return int((common / (2 * size[0] * size[1] - common) > iou_threshold).sum())


def _is_near_threshold(sizes: list[tuple[int, int]], unit: float, iou_threshold: float) -> bool:
    """Whether two boxes of these sizes on a lattice of `unit` can have an IoU within the margin of the threshold."""
    for width, height in sizes:
        for other_width, other_height in sizes:
            common = torch.outer(torch.arange(min(width, other_width) + 1), torch.arange(min(height, other_height) + 1)).double() * unit**2
            union = (width * height + other_width * other_height) * unit**2 - common + _EPSILON
            if ((common / union - iou_threshold).abs() < _MARGIN).any():
                return True
    return False


def _distinct_scores(count: int, generator: torch.Generator) -> torch.Tensor:
    """Different float32 numbers in [2^-6, 1) in random order; raises ValueError for more than there are."""
    first, last = 0x3C800000, 0x3F800000
    if count > last - first:
        raise ValueError(f"no {count} different scores between 2^-6 and 1")
    return (torch.randperm(count, generator=generator) * (last - first) // max(count, 1) + first).to(torch.int32).view(torch.float32)
