"""Initializers: the values that weights begin with."""

from operad_optimizer.initializer.base import InitDesc as InitDesc
from operad_optimizer.initializer.base import Initializer as Initializer
from operad_optimizer.initializer.base import alias as alias
from operad_optimizer.initializer.base import create as create
from operad_optimizer.initializer.base import register as register
from operad_optimizer.initializer.chosen import Load as Load
from operad_optimizer.initializer.chosen import Mixed as Mixed
from operad_optimizer.initializer.fixed import Bilinear as Bilinear
from operad_optimizer.initializer.fixed import Constant as Constant
from operad_optimizer.initializer.fixed import LSTMBias as LSTMBias
from operad_optimizer.initializer.fixed import One as One
from operad_optimizer.initializer.fixed import Zero as Zero
from operad_optimizer.initializer.fused import FusedRNN as FusedRNN
from operad_optimizer.initializer.random import MSRAPrelu as MSRAPrelu
from operad_optimizer.initializer.random import Normal as Normal
from operad_optimizer.initializer.random import Orthogonal as Orthogonal
from operad_optimizer.initializer.random import Uniform as Uniform
from operad_optimizer.initializer.random import Xavier as Xavier
