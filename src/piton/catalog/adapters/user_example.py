"""What `piton suite init` writes."""

EXAMPLE_SUITE = """\
# A suite of your own: everything but the code. Evaluate with
#   piton eval SUBMISSION --suite THIS_FOLDER --trust
format = 1

[suite]
name = "my-suite"
version = "1"                  # part of every seed: a new version draws new numbers

[scoring]
# Which chip the times quoted in the cases hold for. The formula of the score is the same for every suite.
hardware = "ascend910b2"

[[operator]]
# Name, arguments in order, attributes with defaults, results. The golden's function and the submission's have this name.
schema = "scaled_relu(Tensor x, float scale=1.0) -> Tensor y"
golden = "scaled_relu.py"      # Python file with a function scaled_relu
description = "y = scale * max(x, 0)"   # or a Markdown file: "scaled_relu.md"
level = 1
category = "Elementwise"
dtypes = ["float16", "float32"]         # of every tensor; [operator.tensors] says it for single ones

# [operator.tensors]
# x = { dtypes = ["float16", "float32"], description = "any shape" }

# Mean relative error that is accepted, by element type. Without a line the default of the precision standard holds (docs/precision.md).
# [operator.precision]
# float16 = 0.002

[[operator.case]]
shapes = [[256, 1024]]         # one per input tensor
dtypes = ["float16"]           # one per input tensor, or one for all
ranges = [[-2.0, 2.0]]         # values, uniform; one pair per input tensor or one for all. inf and nan ask for special values
attributes = { scale = 0.5 }
note = "a plain case"
# t_hw_us = 1.3                # times you know: quoted, never computed. Without both, a case has no HAP
# t_baseline_us = 6.5

[[operator.case]]
shapes = [[7, 1001]]
dtypes = ["float32"]
note = "rows that do not end on a block"
"""

EXAMPLE_GOLDEN = '''\
"""The defining code of scaled_relu: it runs in float64 for the truth and in the inputs' own type for comparison."""

import torch


def scaled_relu(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.clamp(x, min=0)
'''
