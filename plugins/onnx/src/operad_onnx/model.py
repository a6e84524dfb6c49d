"""Model that was read."""

from __future__ import annotations

from typing import Any, NamedTuple, final

from operad.symbol import Symbol


@final
class Model(NamedTuple):
    """A model that was read.

    Attributes:
        symbol: Its outputs are the model's.
        params: Arrays of its arguments and auxiliary states by name; the other arguments are the inputs.
    """

    symbol: Symbol
    params: dict[str, Any]

    @property
    def arg_params(self) -> dict[str, Any]:
        """The parameters that are arguments."""
        return {name: self.params[name] for name in self.symbol.list_arguments() if name in self.params}

    @property
    def aux_params(self) -> dict[str, Any]:
        """The parameters that are auxiliary states."""
        return {
            name: self.params[name] for name in self.symbol.list_auxiliary_states() if name in self.params
        }

    @property
    def inputs(self) -> list[str]:
        """Names of the arguments and states that are no parameters."""
        return [name for name in self.symbol.list_inputs() if name not in self.params]
