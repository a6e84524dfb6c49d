"""`mx.contrib`: operators called `_contrib_...`, and the autograd of before MXNet 1.0."""

from operad import nd as _nd
from operad import sym as _sym
from operad_mxnet.contrib import autograd as autograd

nd = ndarray = _nd.contrib
sym = symbol = _sym.contrib
