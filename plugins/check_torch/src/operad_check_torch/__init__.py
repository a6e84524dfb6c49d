"""The contract checks for functions of PyTorch: `check_torch`, and `operad check --torch`."""

from operad_check_torch.checking import check_torch as check_torch
from operad_check_torch.checking import torch_suite as torch_suite
