"""The checks themselves, one module per group, or per part of one; importing the room registers them all."""

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules

for _module in _iter_modules(__path__):
    _import_module(f"{__name__}.{_module.name}")
