"""The dependency engine: functions run in the order their variables demand, in parallel where they may."""

from operad.engine.current import bulk, get, set, set_bulk_size, stop
from operad.engine.dispatch import ProfileHook
from operad.engine.engine import Engine
from operad.engine.failure import OperatorName
from operad.engine.inline import nested
from operad.engine.kinds import NaiveEngine, ThreadedEngine
from operad.engine.operation import AsyncFn, FnProperty, OnComplete, Opr, RunContext, SyncFn
from operad.engine.var import Var

__all__ = [
    "AsyncFn",
    "Engine",
    "FnProperty",
    "NaiveEngine",
    "OnComplete",
    "OperatorName",
    "Opr",
    "ProfileHook",
    "RunContext",
    "SyncFn",
    "ThreadedEngine",
    "Var",
    "bulk",
    "get",
    "nested",
    "set",
    "set_bulk_size",
    "stop",
]
