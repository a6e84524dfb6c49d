"""Names and hidden attributes of an operator's automatically named symbol."""

from __future__ import annotations

from typing import Any

from tests.conformance.recorded.case import Case
from tests.conformance.recorded.compute import Peer, refusal
from tests.conformance.recorded.outcome import Refusal

NAMES = ("arguments", "outputs", "auxiliary", "attributes")


def symbol_names(peer: Peer, case: Case, manager: Any, variadic: str) -> dict[str, Any] | Refusal:
    """Arguments, outputs, auxiliary states, and what hidden attributes variables got.

    Args:
        peer: Who makes the symbol.
        case: Gives the parameters.
        manager: A new name manager of the peer.
        variadic: The parameter that counts the inputs, or nothing.
    """
    params = dict(case.params)
    if variadic:
        params.setdefault(variadic, len(case.inputs))
    try:
        with manager:
            symbol = peer.symbol(case.op, (), params, None)
        attributes = symbol.attr_dict()
        inputs = {*symbol.list_arguments(), *symbol.list_auxiliary_states()}
        return {
            "arguments": symbol.list_arguments(),
            "outputs": symbol.list_outputs(),
            "auxiliary": symbol.list_auxiliary_states(),
            "attributes": {
                key: hidden
                for key, given in sorted(attributes.items())
                if key in inputs and (hidden := {k: v for k, v in given.items() if k.startswith("__")})
            },
        }
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is recorded
        return refusal(error)
