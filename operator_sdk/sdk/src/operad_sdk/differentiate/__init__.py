"""Derivatives of functions of arrays, found by running the functions, for gradients of gradients.

The modules named first fill the tables of `dispatch` when they are imported.
"""

from operad.errors import TraceError as TraceError
from operad_sdk.differentiate import compositions as compositions
from operad_sdk.differentiate import elementwise as elementwise
from operad_sdk.differentiate import indexing as indexing
from operad_sdk.differentiate import mappers as mappers
from operad_sdk.differentiate import methods as methods
from operad_sdk.differentiate import products as products
from operad_sdk.differentiate import reductions as reductions
from operad_sdk.differentiate import shaping as shaping
from operad_sdk.differentiate.branches import BranchForm as BranchForm
from operad_sdk.differentiate.branches import BranchForms as BranchForms
from operad_sdk.differentiate.branches import elements_form as elements_form
from operad_sdk.differentiate.form import form_of as form_of
from operad_sdk.differentiate.merging import merged as merged
from operad_sdk.differentiate.namespace import Namespace as Namespace
from operad_sdk.differentiate.products import multilinear as multilinear
from operad_sdk.differentiate.reverse import vector_jacobian as vector_jacobian
from operad_sdk.differentiate.tracing import FORM as FORM
from operad_sdk.differentiate.tracing import PROGRAM as PROGRAM
from operad_sdk.differentiate.tracing import Node as Node
from operad_sdk.differentiate.tracing import Primitive as Primitive
from operad_sdk.differentiate.tracing import Traced as Traced
from operad_sdk.differentiate.tracing import constant as constant
from operad_sdk.differentiate.tracing import plain as plain
from operad_sdk.differentiate.walk import behind as behind
