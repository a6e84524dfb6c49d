"""The dependency engine: functions run in the order their variables demand, in parallel where they may."""

from operad.engine.budget import blas_limits as blas_limits
from operad.engine.budget import run_single as run_single
from operad.engine.current import bulk as bulk
from operad.engine.current import get as get
from operad.engine.current import set as set
from operad.engine.current import set_bulk_size as set_bulk_size
from operad.engine.current import stop as stop
from operad.engine.engine import Engine as Engine
from operad.engine.failure import OperatorName as OperatorName
from operad.engine.inline import nested as nested
from operad.engine.kinds import NaiveEngine as NaiveEngine
from operad.engine.kinds import ThreadedEngine as ThreadedEngine
from operad.engine.operation import FnProperty as FnProperty
from operad.engine.operation import Opr as Opr
from operad.engine.operation import RunContext as RunContext
from operad.engine.thread import is_inside as is_inside
from operad.engine.var import Var as Var
