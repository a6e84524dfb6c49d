"""Functions of other libraries: `operad check --torch FUNCTION --line LINE`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from operad_check.foreign.checking import checks_of
from operad_check.foreign.found import backend_with
from operad_check.foreign.function import function_of
from operad_check.foreign.line import described
from operad_check.running.register import CheckFunction
from operad_check.trials.subject import Subject

LIBRARIES: Final = ("jax", "numpy", "torch")
"""Libraries that an option names."""


@final
@dataclass(frozen=True, slots=True)
class Library:
    """A function of a library.

    Attributes:
        library: Its name.
        function: Module and name, or an expression.
        line: Its shape line.
        keywords: Further arguments of a call, as text.
        gradient: Module and name of a gradient that is written by hand, for NumPy; or empty.
        folder: Where modules are looked for besides.
    """

    library: str
    function: str
    line: str
    keywords: Mapping[str, str] = field(default_factory=dict)
    gradient: str = ""
    folder: str = field(default_factory=lambda: str(Path.cwd()))

    @property
    def module(self) -> str:
        """Name under which its results are remembered."""
        return f"{self.library}:{self.line}"

    def subject(self, name: str) -> Subject:
        """The function as a subject.

        Raises:
            ArgumentError: There is no such library or function, or no result fits the line.
            SpecError: The line cannot be read.
        """
        keywords = {key: _value(text) for key, text in self.keywords.items()}
        found = function_of(self._backend(), self.function, self.line, name=name, keywords=keywords)
        return described(found)

    def checks(self) -> Sequence[CheckFunction]:
        """The checks of functions of the library."""
        return checks_of(self._backend())

    def _backend(self) -> Any:
        if self.folder not in sys.path:
            sys.path.insert(0, self.folder)
        return backend_with(self.library, self.gradient)


def _value(text: str) -> Any:
    """A number, a flag, a tuple; or the text, where it is none."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
