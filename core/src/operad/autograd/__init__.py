"""Imperative differentiation: recording, and gradients of what was recorded."""

from typing import Any as _Any

from operad import registry as _registry
from operad.autograd.backward import backward as backward
from operad.autograd.backward import grad as grad
from operad.autograd.backward import mark_variables as mark_variables
from operad.autograd.function import record_copy as record_copy
from operad.autograd.function import record_function as record_function
from operad.autograd.scope import pause as pause
from operad.autograd.scope import predict_mode as predict_mode
from operad.autograd.scope import record as record
from operad.autograd.scope import train_mode as train_mode
from operad.imperative import Versions as Versions
from operad.imperative import is_recording as is_recording
from operad.imperative import is_training as is_training
from operad.imperative import overwritten as overwritten
from operad.imperative import set_recording as set_recording
from operad.imperative import set_training as set_training


def __getattr__(name: str) -> _Any:
    """An attribute that a plugin adds."""
    return _registry.get_attribute("autograd", name)
