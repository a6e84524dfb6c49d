"""Operators of a program, which no distribution provides: `operad check NAME --module my_ops.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, final

import operad
from operad import registry
from operad.cli import declared_in, imported, located
from operad.errors import ArgumentError, OperatorNotFoundError
from operad_check.running.register import all_checks
from operad_check.trials.subject import IN_PROCESS, Subject, subject_of

_OF_PUBLISHED: Final = ("M402", "S107", "S108")
"""Checks of what only others need: documentation, and no memory that is kept for nothing."""


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A module that declares operators, or registers some when it is imported.

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
        return cls(*located(text), params)

    def checks(self) -> Sequence[str]:
        """Ids of the checks of operators that nobody else installs."""
        return [id for id in all_checks() if id not in _OF_PUBLISHED]

    def subject(self, name: str) -> Subject:
        """An operator of the module: one that it declares, or the name that it registers.

        Raises:
            OperatorNotFoundError: The module has no operator of that name.
            ArgumentError: It takes other parameters.
        """
        declared = declared_in(imported(self.folder, self.module))
        head = f"import sys\nimport operad\nsys.path.insert(0, {self.folder!r})\nimport {self.module}"
        record = registry.find(name)
        if name in declared and (record is None or record.distribution != IN_PROCESS):
            if self.params:
                raise ArgumentError(
                    f"check: {name} declares its parameters, and the checks choose their values; --param is "
                    "for a CustomOpProp. Say values to try in its Contract(params=...)"
                )
            attribute, cls = declared[name]
            return Subject(name, cls, program=(head, f"{self.module}.{attribute}"))
        try:
            cls = operad.operator.as_operator(name, **self.params)
        except AttributeError as error:  # no custom operator of that name, or no package of custom operators
            if record is None:
                listed = ", ".join(sorted(declared)) or "none"
                raise OperatorNotFoundError(
                    f"check: {self.module} neither declares nor registers an operator {name!r}; "
                    f"declared there: {listed}. {error}"
                ) from error
            if self.params:
                raise
            return replace(subject_of(name), program=(head, repr(name)))
        arguments = "".join(f", {key}={value!r}" for key, value in self.params.items())
        return Subject(name, cls, program=(head, f"operad.operator.as_operator({name!r}{arguments})"))
