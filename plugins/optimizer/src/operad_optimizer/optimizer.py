"""Every optimizer of this package, known to `create` by name once this module is imported.

MXNet's programs import classes from here, too: `from operad.optimizer.optimizer import SGD`.
"""

from operad_optimizer.accumulated import AdaDelta as AdaDelta
from operad_optimizer.accumulated import AdaGrad as AdaGrad
from operad_optimizer.accumulated import GroupAdaGrad as GroupAdaGrad
from operad_optimizer.adam_variants import Adamax as Adamax
from operad_optimizer.adam_variants import Nadam as Nadam
from operad_optimizer.adaptive import FTML as FTML
from operad_optimizer.adaptive import LAMB as LAMB
from operad_optimizer.adaptive import Adam as Adam
from operad_optimizer.adaptive import Ftrl as Ftrl
from operad_optimizer.adaptive import RMSProp as RMSProp
from operad_optimizer.asynchronous import DCASGD as DCASGD
from operad_optimizer.asynchronous import SGLD as SGLD
from operad_optimizer.asynchronous import Test as Test
from operad_optimizer.base import Optimizer as Optimizer
from operad_optimizer.base import create as create
from operad_optimizer.base import register as register
from operad_optimizer.declared import declare as declare
from operad_optimizer.declared import from_declared as from_declared
from operad_optimizer.declared import is_declarable as is_declarable
from operad_optimizer.gradient_descent import NAG as NAG
from operad_optimizer.gradient_descent import SGD as SGD
from operad_optimizer.gradient_descent import Signum as Signum
from operad_optimizer.gradient_descent import ccSGD as ccSGD
from operad_optimizer.large_batch import LARS as LARS
from operad_optimizer.large_batch import LBSGD as LBSGD
from operad_optimizer.state import rename_states as rename_states
from operad_optimizer.updater import Updater as Updater
from operad_optimizer.updater import get_updater as get_updater
