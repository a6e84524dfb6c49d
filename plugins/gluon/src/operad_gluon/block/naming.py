"""Names of blocks: prefixes, which scopes nest and number.

Source: _BlockScope, python/mxnet/gluon/block.py.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, Final, final

import operad as od
from operad_gluon.parameter import ParameterDict


class _Innermost(threading.local):
    """The thread's innermost scope, and numbers of blocks that are outside of any."""

    def __init__(self) -> None:
        self.scope: BlockScope | None = None
        self.counts: Counter[str] = Counter()


_local: Final = _Innermost()


@final
class BlockScope:
    """Names made inside `with block.name_scope():` begin with the prefix of the block."""

    def __init__(self, block: Any) -> None:
        self._block = block
        self._counts: Counter[str] = Counter()
        self._outer: list[tuple[BlockScope | None, Any]] = []

    @staticmethod
    def create(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
        """Prefix and parameters of a new block.

        Args:
            prefix: The prefix that was asked for, or None.
            params: Parameters to share, or None.
            hint: Begins the prefix where none was asked for.
        """
        scope = _local.scope
        if prefix is None:
            counts = _local.counts if scope is None else scope._counts
            prefix = f"{hint}{counts[hint]}_"
            counts[hint] += 1
        if params is not None:
            made = ParameterDict(params.prefix, params)
        elif scope is None:
            made = ParameterDict(prefix)
        else:
            outer = scope._block.params
            made = ParameterDict(outer.prefix + prefix, outer._shared)
        return ("" if scope is None else scope._block.prefix) + prefix, made

    def __enter__(self) -> BlockScope:
        if not self._block._empty_prefix:
            names = od.name.Prefix(self._block.prefix)
            self._outer.append((_local.scope, names))
            _local.scope = self
            names.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        if not self._block._empty_prefix:
            _local.scope, names = self._outer.pop()
            names.__exit__(*raised)
