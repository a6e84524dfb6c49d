"""Imports every module that stands in this room, which registers its checks."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

for module in iter_modules([str(Path(__file__).parent)]):
    import_module(f"{__package__}.{module.name}")
