"""Operators of a program, which no distribution provides: `operad check --module my_ops.py NAME`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import operad
from operad import registry
from operad.errors import ArgumentError

if TYPE_CHECKING:
    from operad_sdk.check.trials.subject import Subject

_OF_PUBLISHED: Final = ("M402", "S107", "S108")
"""Checks of what only others need: documentation, and no memory that is kept for nothing."""


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A module that registers operators when it is imported.

    Attributes:
        folder: Where Python finds it.
        module: Its name.
        params: What a `CustomOpProp` is made with, as text.
    """

    folder: str
    module: str
    params: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, params: Mapping[str, str]) -> Source:
        """Source for a file `folder/my_ops.py` or a module `package.my_ops`, seen from the working directory.

        Raises:
            ArgumentError: There is no such file.
        """
        path = Path(text)
        if path.suffix != ".py":
            return cls(str(Path.cwd()), text, params)
        if not path.is_file():
            raise ArgumentError(f"check: there is no file {text}; --module takes a file or a module's name")
        return cls(str(path.resolve().parent), path.stem, params)

    def checks(self) -> Sequence[str]:
        """Ids of the checks of operators that nobody else installs."""
        from operad_sdk.check.running.register import all_checks  # noqa: PLC0415 - an extra

        return [id for id in all_checks() if id not in _OF_PUBLISHED]

    def subject(self, name: str) -> Subject:
        """An operator of the module, by the name that it registers.

        Raises:
            OperatorNotFoundError: It registers none of that name.
            ArgumentError: It takes other parameters.
        """
        from operad_sdk.check.trials.subject import Subject, subject_of  # noqa: PLC0415 - an extra

        sys.path.insert(0, self.folder)
        import_module(self.module)
        head = f"import sys\nimport operad\nsys.path.insert(0, {self.folder!r})\nimport {self.module}"
        try:
            cls = operad.operator.as_operator(name, **self.params)
        except AttributeError:  # no custom operator of that name, or no package of custom operators
            if registry.find(name) is None or self.params:
                raise
            return replace(subject_of(name), program=(head, repr(name)))
        arguments = "".join(f", {key}={value!r}" for key, value in self.params.items())
        return Subject(name, cls, program=(head, f"operad.operator.as_operator({name!r}{arguments})"))
