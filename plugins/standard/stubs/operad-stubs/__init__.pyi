"""operad: a deep-learning runtime whose every operator is a separately installed plugin.

Importing this package imports contexts and errors only; `od.nd`, `od.sym` and the other modules are
imported when they are first used, and so are those that plugins add (`od.optimizer`, `od.init`).
"""
from typing import TYPE_CHECKING
from typing import Any as _Any
from operad.context import Context as Context
from operad.context import cpu as cpu
from operad.context import cpu_pinned as cpu_pinned
from operad.context import current_context as current_context
from operad.context import gpu as gpu
from operad.context import num_gpus as num_gpus
from operad.errors import OperadError as OperadError
if TYPE_CHECKING:
    from operad import autograd as autograd
    from operad import context as context
    from operad import engine as engine
    from operad import errors as errors
    from operad import nd as nd
    from operad import operator as operator
    from operad import profiler as profiler
    from operad import random as random
    from operad import registry as registry
    from operad import sym as sym
    from operad.compiled import compile as compile
    from operad.executor import Executor as Executor
    from operad.ndarray import NDArray as NDArray
    from operad.ndarray import waitall as waitall
    from operad.symbol import AttrScope as AttrScope
    from operad.symbol import Symbol as Symbol
    from operad.symbol import name as name
    ndarray = nd
    symbol = sym
__version__ = '0.3.0'
_LAZY_ADDED: set[str] = set()
'Names that plugins were found to add, so that the file system is asked once for modules called so.'

def __getattr__(name: str) -> _Any:
    """A module or name of the core, else one that a plugin adds."""
    ...

def __dir__() -> list[str]:
    ...

import operad_gluon as _added_gluon
gluon = _added_gluon
import operad_image as _added_image
image = _added_image
import operad_image as _added_img
img = _added_img
import operad_iterators as _added_io
io = _added_io
import operad_kvstore as _added_kv
kv = _added_kv
import operad_kvstore as _added_kvstore
kvstore = _added_kvstore
import operad_metric as _added_metric
metric = _added_metric
from operad_module import callback as callback
from operad_module import executor_manager as executor_manager
import operad_module as _added_mod
mod = _added_mod
from operad_module import model as model
import operad_module as _added_module
module = _added_module
from operad_module import monitor as _added_mon
mon = _added_mon
from operad_module import monitor as monitor
from operad_mxnet import as_mxnet as as_mxnet
from operad_mxnet import attribute as attribute
from operad_mxnet import base as base
from operad_mxnet import contrib as contrib
from operad_mxnet import libinfo as libinfo
from operad_mxnet import log as log
from operad_mxnet import older_schedules as _added_misc
misc = _added_misc
from operad_mxnet import rnd as rnd
from operad_mxnet import runtime as runtime
from operad_mxnet import environment as _added_util
util = _added_util
from operad_optimizer import initializer as _added_init
init = _added_init
from operad_optimizer import initializer as initializer
from operad_optimizer import lr_scheduler as lr_scheduler
import operad_optimizer as _added_opt
opt = _added_opt
import operad_optimizer as _added_optimizer
optimizer = _added_optimizer
import operad_recordio as _added_recordio
recordio = _added_recordio
import operad_rnn_cell as _added_rnn
rnn = _added_rnn
import operad_test_utils as _added_test_utils
test_utils = _added_test_utils
import operad_visualization as _added_visualization
visualization = _added_visualization
import operad_visualization as _added_viz
viz = _added_viz
from operad_mxnet.base import MXNetError as MXNetError
from operad_optimizer.training import TrainingProgram as TrainingProgram
from operad_mxnet.environment import gpu_memory_info as gpu_memory_info
from operad_mxnet.environment import is_np_array as is_np_array
from operad_mxnet.environment import is_np_shape as is_np_shape
from operad_mxnet.environment import np_array as np_array
from operad_mxnet.environment import np_shape as np_shape
from operad_mxnet.environment import set_np_shape as set_np_shape
from operad_mxnet.environment import use_np as use_np
from operad_mxnet.environment import use_np_array as use_np_array
from operad_mxnet.environment import use_np_shape as use_np_shape
