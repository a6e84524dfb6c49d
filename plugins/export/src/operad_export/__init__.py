"""Exporters of operators, `operad.export.torch` and `operad.export.jax`, and packages that they fill."""

from operad_export.doors import jax as jax
from operad_export.doors import register_jax as register_jax
from operad_export.doors import register_torch as register_torch
from operad_export.doors import torch as torch
