"""Transport of a store's configuration to servers: optimizers as plain values, code if allowed.

An optimizer of operad's is a name and numbers. A function of `set_updater`, or a program's own optimizer, is
code. It travels pickled where `OPERAD_KV_ALLOW_PICKLE` is 1, and not at all else. In a server's picture it
stands under a seal whose key the actor alone knows: data from any other writer is never unpickled.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final, final

from ray import cloudpickle

import operad as od
from operad.errors import ArgumentError, FormatError

_CLOUDPICKLE: Final[Any] = cloudpickle  # without annotations
_DECLARED, _CODE = "declared", "code"
_SETTING: Final = "OPERAD_KV_ALLOW_PICKLE"


def packed(what: str, value: Any, *, may_pickle: bool) -> Any:
    """Transport form of an optimizer, a function, or states, for `Unpacking.unpacked`.

    Raises:
        ArgumentError: The value is code, which must not travel.
    """
    if what == "states" or value is None:
        return value
    if what == "optimizer" and od.optimizer.is_declarable(value):
        return _DECLARED, od.kvstore.pictures.to_bytes(od.optimizer.declare(value))
    if not may_pickle:
        raise ArgumentError(
            f"set_{what}: {type(value).__name__} is code of this program, which servers run only where that "
            f"is allowed; set {_SETTING}=1 for the whole job, or use an optimizer of operad's"
        )
    return _CODE, _CLOUDPICKLE.dumps(value)


@final
class Unpacking:
    """Unpacks the configuration on one server.

    Args:
        may_pickle: Whether code may come.
        key: Of seals.
    """

    def __init__(self, key: bytes, *, may_pickle: bool) -> None:
        self._key, self._may_pickle = key, may_pickle
        self._code = b""

    def unpacked(self, what: str, value: Any) -> Any:
        """Value that `packed` was given.

        Raises:
            ArgumentError: The value is code, which the server does not run.
        """
        if what == "states" or value is None:
            return value
        self._code = b""
        kind, content = value
        if kind == _DECLARED:
            return od.optimizer.from_declared(od.kvstore.pictures.from_bytes(content, "the optimizer"))
        if not self._may_pickle:
            raise ArgumentError(f"set_{what}: the servers were started without {_SETTING}=1, and run no code")
        self._code = content
        return _CLOUDPICKLE.loads(content)

    def sealed(self) -> dict[str, bytes]:
        """Code that was unpacked last, for a picture."""
        return {"code": self._code, "seal": self._seal(self._code)}

    def unsealed(self, kept: Any, what: str) -> Any:
        """Code that `sealed` gave; None if there is none.

        Args:
            kept: It.
            what: The name of the file, for messages.
        Raises:
            FormatError: The seal is that of another server or of another program.
        """
        if not kept["code"]:
            return None
        if not (self._may_pickle and hmac.compare_digest(kept["seal"], self._seal(kept["code"]))):
            raise FormatError(f"{what} holds code that this server has not written; it is not run")
        self._code = kept["code"]
        return _CLOUDPICKLE.loads(self._code)

    def _seal(self, code: bytes) -> bytes:
        return hmac.digest(self._key, code, hashlib.sha256)
