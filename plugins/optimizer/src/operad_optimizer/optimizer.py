"""Every optimizer of this package, known to `create` by name once this module is imported.

MXNet's programs import classes from here, too: `from operad.optimizer.optimizer import SGD`.
"""

from operad_optimizer.accumulated import AdaDelta, AdaGrad, GroupAdaGrad
from operad_optimizer.adam_variants import Adamax, Nadam
from operad_optimizer.adaptive import FTML, LAMB, Adam, Ftrl, RMSProp
from operad_optimizer.asynchronous import DCASGD, SGLD, Test
from operad_optimizer.base import Optimizer, create, register
from operad_optimizer.declared import declare, from_declared, is_declarable
from operad_optimizer.gradient_descent import NAG, SGD, Signum, ccSGD
from operad_optimizer.large_batch import LARS, LBSGD
from operad_optimizer.state import rename_states
from operad_optimizer.updater import Updater, get_updater

__all__ = [
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "DCASGD",
    "FTML",
    "Ftrl",
    "GroupAdaGrad",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "SGD",
    "SGLD",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "declare",
    "from_declared",
    "get_updater",
    "is_declarable",
    "register",
    "rename_states",
]
