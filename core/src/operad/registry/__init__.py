"""The installed operators, and everything else that plugins provide."""

from typing import Any as _Any

from operad.registry.entries import absent_text as absent_text
from operad.registry.entries import attribute_names as attribute_names
from operad.registry.entries import entry as entry
from operad.registry.entries import entry_names as entry_names
from operad.registry.entries import explain_absence as explain_absence
from operad.registry.entries import find_attribute as find_attribute
from operad.registry.entries import get_attribute as get_attribute
from operad.registry.entries import load_all as load_all
from operad.registry.entries import loaded as loaded
from operad.registry.entries import namespace as namespace
from operad.registry.entries import plugins as plugins
from operad.registry.entries import star_names as star_names
from operad.registry.hooks import hooks as hooks
from operad.registry.methods import Extensible as Extensible
from operad.registry.methods import OperatorMethods as OperatorMethods
from operad.registry.methods import module_attribute as module_attribute
from operad.registry.methods import shown_dtype as shown_dtype
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
from operad.registry.packages import package_of as package_of
from operad.registry.plugins import Broken as Broken
from operad.registry.plugins import OperatorRecord as OperatorRecord
from operad.registry.plugins import PluginRecord as PluginRecord


def __getattr__(name: str) -> _Any:
    """An attribute that a plugin adds."""
    return get_attribute("registry", name)
