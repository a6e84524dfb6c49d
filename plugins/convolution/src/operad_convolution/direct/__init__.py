"""Correlations in vector code."""
