"""Fresh copies of operators, in which nothing has run: their module is executed once more.

What an operator keeps in its module or class is there for the life of the process. A copy of the module has
none of it yet, so that what runs first can be chosen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sized
from dataclasses import dataclass
from dataclasses import replace as replaced
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any, Final, final

from operad_check.trials.subject import ReachedCheck, Subject, importing, property_class
from operad_sdk import OperatorProperty

_CACHES: Final = frozenset(name for name in vars(OperatorProperty) if re.match("_[^_]", name))
"""Attributes that the toolkit itself keeps on an operator's class; they depend on no values."""


@final
@dataclass(frozen=True, slots=True)
class FreshCopy:
    """An operator out of a new copy of its module.

    Attributes:
        subject: The operator; nothing has run yet.
        module: The copy.
    """

    subject: Subject
    module: ModuleType

    def state(self) -> dict[Any, Any]:
        """Objects of the module and its classes, with their lengths: runs may change these."""
        classes = [value for value in vars(self.module).values() if isinstance(value, type)]
        owners = [self.module, *[cls for cls in classes if cls.__module__ == self.module.__name__]]
        return {
            (place, name): (id(value), len(value) if isinstance(value, Sized) else None)
            for place, owner in enumerate(owners)
            for name, value in list(vars(owner).items())
            if name not in _CACHES
        }


def fresh_copy(subject: Subject) -> FreshCopy | None:
    """New copy of the operator's module; None if none can be made.

    A module that is no file, that cannot be executed twice, or that does not define the operator itself
    has none.
    """
    found = subject.place()
    module = sys.modules.get(found[0]) if found is not None else None
    if found is None or module is None or not (module.__file__ or "").endswith(".py"):
        return None
    if property_class(getattr(module, found[1], None)) is not subject.cls:
        return None  # one that a check has changed
    copied = _executed_again(module)
    cls = property_class(getattr(copied, found[1], None))
    if copied is None or cls is None or cls is subject.cls:
        return None
    return FreshCopy(replaced(subject, cls=cls), copied)


def _executed_again(module: ModuleType) -> ModuleType | None:
    name = f"{module.__name__}__again"
    spec = spec_from_file_location(name, module.__file__)
    assert spec is not None, "it is a file of source"
    assert spec.loader is not None, "likewise"
    copied = module_from_spec(spec)
    copied.__package__ = module.__package__
    sys.modules[name] = copied  # classes look their module up while they are made
    try:
        with importing():
            spec.loader.exec_module(copied)
    except ReachedCheck:
        pass  # a script that checks its operator: all that it has defined until then is there
    except (Exception, SystemExit):  # noqa: BLE001 - a module that may be executed only once
        return None
    finally:
        del sys.modules[name]
    return copied
