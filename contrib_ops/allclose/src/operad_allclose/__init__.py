"""Comparison of arrays within a tolerance, `_contrib_allclose`."""

from operad_allclose.allclose import allclose as allclose
