"""The initializer of the one vector that has all weights of a fused recurrent network."""

from __future__ import annotations

from typing import Any, final

import operad
from operad import NDArray
from operad_optimizer.initializer.base import InitDesc, Initializer, create, register
from operad_sdk import ParamError


@register
@final
class FusedRNN(Initializer):
    """Fills the parts of the vector one by one; needs `operad-rnn-cell`.

    Args:
        init: Fills them, by their names; None: what initializes where nothing else is said.
        num_hidden: As in `operad.rnn.FusedRNNCell`, with what follows.

    Raises:
        ParamError: `init` is None and nothing else initializes.
    """

    def __init__(
        self,
        init: Initializer | str | None,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        made = create(init) if isinstance(init, str) else init
        network: dict[str, Any] = {
            "num_hidden": num_hidden,
            "num_layers": num_layers,
            "mode": mode,
            "bidirectional": bidirectional,
            "forget_bias": forget_bias,
        }
        super().__init__(init=made.dumps() if made is not None else None, **network)
        self._init = made
        self._network = network

    def _init_weight(self, name: str, arr: NDArray) -> None:
        everywhere = name.global_init if isinstance(name, InitDesc) else None
        init = self._init or everywhere
        if init is None or isinstance(init, FusedRNN):
            raise ParamError(f"FusedRNN: nothing says how to fill the parts of {str(name)!r}; give init")
        cell = operad.rnn.FusedRNNCell(**self._network, prefix="")
        parts = cell.unpack_weights({"parameters": arr})
        for part, array in parts.items():
            if self._network["mode"] == "lstm" and part.endswith("_f_bias"):
                array[:] = self._network["forget_bias"]
            else:
                init(InitDesc(part, global_init=everywhere), array)
        arr[:] = cell.pack_weights(parts)["parameters"]
