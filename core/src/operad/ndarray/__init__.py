"""Imperative arrays and operators: `od.ndarray.tanh(x)`, or `od.nd` for short."""

from operad.ndarray.arguments import by_name as by_name
from operad.ndarray.arguments import check_dense as check_dense
from operad.ndarray.arguments import split_arguments as split_arguments
from operad.ndarray.arithmetic import binary as binary
from operad.ndarray.arithmetic import converted as converted
from operad.ndarray.arithmetic import invoke as invoke
from operad.ndarray.arithmetic import real_number as real_number
from operad.ndarray.function import operator_function as operator_function
from operad.ndarray.interchange import over as over
from operad.ndarray.namespace import __dir__ as __dir__
from operad.ndarray.namespace import __getattr__ as __getattr__
from operad.ndarray.namespace import make as make
from operad.ndarray.namespace import release_idle_memory as release_idle_memory
from operad.ndarray.ndarray import NDArray as NDArray
from operad.ndarray.ndarray import array as array
from operad.ndarray.ndarray import empty as empty
from operad.ndarray.ndarray import waitall as waitall
from operad.ndarray.nested import nested as nested
from operad.ndarray.signature import array_names as array_names
from operad.ndarray.signature import presented as presented
