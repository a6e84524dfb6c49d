"""What is installed: operators and everything else that plugins provide."""

from typing import Any as _Any

from operad import faces as _faces
from operad.registry.entries import entry as entry
from operad.registry.entries import entry_names as entry_names
from operad.registry.entries import load_all as load_all
from operad.registry.entries import loaded as loaded
from operad.registry.entries import names_on_face as names_on_face
from operad.registry.entries import namespace as namespace
from operad.registry.entries import on_face as on_face
from operad.registry.entries import plugins as plugins
from operad.registry.hooks import hooks as hooks
from operad.registry.methods import Extensible as Extensible
from operad.registry.methods import OperatorMethods as OperatorMethods
from operad.registry.methods import attribute as attribute
from operad.registry.operators import find as find
from operad.registry.operators import follow as follow
from operad.registry.operators import get as get
from operad.registry.operators import list_operators as list_operators
from operad.registry.operators import operators as operators
from operad.registry.operators import provider as provider
from operad.registry.operators import refresh as refresh
from operad.registry.operators import register as register
from operad.registry.operators import unregister as unregister
from operad.registry.packages import install_line as install_line
from operad.registry.plugins import Broken as Broken
from operad.registry.plugins import OperatorRecord as OperatorRecord
from operad.registry.plugins import PluginRecord as PluginRecord


def __getattr__(name: str) -> _Any:
    """What plugins add."""
    return _faces.on_face("registry", name)
