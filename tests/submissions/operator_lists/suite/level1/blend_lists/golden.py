import torch


def blend_lists(x, bias, weights, factor, kind):
    """Each of x plus bias, times factor, plus its weight; and the lengths."""
    offset = 0.0 if bias is None else bias
    return [(item + offset) * factor + weight for item, weight in zip(x, weights, strict=True)], torch.tensor([item.numel() for item in x], dtype=torch.int32)
