"""One step of the AdamW optimiser: the defining code of `apply_adam_w`."""

import torch


def apply_adam_w(  # the arguments of the schema
    var: torch.Tensor,
    grad: torch.Tensor,
    m: torch.Tensor,
    v: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    epsilon: float = 1e-8,
    step: int = 1,
    maximize: bool = False,
) -> torch.Tensor:
    """The updated parameters: var minus (plus, with maximize) lr * (m_hat / (sqrt(v_hat) + epsilon) + weight_decay * var); shape and dtype of var.

    m_hat and v_hat are the moments m and v after this step's grad, corrected for their start at 0 (Loshchilov and Hutter, Decoupled Weight Decay
    Regularization, algorithm 2). float16 and bfloat16 are computed in float32 and rounded once at the end. Three temporaries of the size of var; no input is
    changed, so that the moments of the next step are the caller's business.
    """
    wide = torch.float32 if var.dtype in (torch.float16, torch.bfloat16) else var.dtype
    gradient, parameters = grad.to(wide), var.to(wide)
    spread = gradient * (1 - beta2)
    spread.mul_(gradient).add_(v.to(wide) * beta2).div_(1 - beta2**step).sqrt_().add_(epsilon)
    update = m.to(wide) * beta1
    update.add_(gradient * (1 - beta1)).div_(1 - beta1**step).div_(spread)
    if weight_decay != 0:
        update.add_(parameters * weight_decay)
    update.mul_(lr if maximize else -lr)
    return update.add_(parameters).to(var.dtype)
