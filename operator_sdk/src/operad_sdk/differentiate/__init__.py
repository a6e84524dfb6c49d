"""Derivatives of functions of arrays, found by running them: what gradients of gradients are made of."""

from operad_sdk.differentiate import elementwise, indexing, mappers, methods, products, reductions, shaping
from operad_sdk.differentiate.errors import TraceError as TraceError
from operad_sdk.differentiate.namespace import Namespace as Namespace
from operad_sdk.differentiate.reverse import vector_jacobian as vector_jacobian
from operad_sdk.differentiate.tracing import Traced as Traced
from operad_sdk.differentiate.tracing import constant as constant
from operad_sdk.differentiate.tracing import plain as plain

RULES = (elementwise, reductions, shaping, indexing, products, mappers, methods)
"""The modules that fill the tables of `dispatch` when they are imported."""
