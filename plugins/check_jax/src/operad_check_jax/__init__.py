"""The contract checks for functions of JAX: `check_jax`, and `operad check --jax`."""

from operad_check_jax.checking import check_jax as check_jax
from operad_check_jax.checking import jax_suite as jax_suite
