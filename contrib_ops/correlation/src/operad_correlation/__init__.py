"""Correlation of patches, `Correlation`."""

from operad_correlation.correlation import Correlation as Correlation
