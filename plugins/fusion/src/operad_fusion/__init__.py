"""Clusters of elementwise operators and rows as one kernel each, in vector code."""

from operad_fusion.fusion import fusion as fusion
