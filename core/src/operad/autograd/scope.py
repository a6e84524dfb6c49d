"""Scopes that switch recording and training mode, each the thread's own.

Source: python/mxnet/autograd.py.
"""

from __future__ import annotations

from operad.imperative import Scope


def record(train_mode: bool = True) -> Scope:
    """Record what is called inside, so that gradients can be computed.

    Args:
        train_mode: Whether to run in training mode as well.
    """
    return Scope(recording=True, training=train_mode)


def pause(train_mode: bool = False) -> Scope:
    """Record nothing inside."""
    return Scope(recording=False, training=train_mode)


def train_mode() -> Scope:
    """Run in training mode inside; recording stays as it is."""
    return Scope(recording=None, training=True)


def predict_mode() -> Scope:
    """Run in prediction mode inside; recording stays as it is."""
    return Scope(recording=None, training=False)
