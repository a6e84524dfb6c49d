"""Files of a case as operad writes them: its symbol, and its inputs as parameters."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

import numpy as np

import operad as od
from tests.conformance.recorded.case import Case
from tests.conformance.recorded.compute import input_names
from tests.conformance.recorded.operad_peer import Operad


@dataclass(frozen=True)
class Files:
    """Files that a user saves.

    Attributes:
        symbol: The text of `-symbol.json`.
        params: The bytes of `.params`.
        header: The same bytes for arrays of zeros.
    """

    symbol: str
    params: bytes
    header: bytes


def write(peer: Operad, case: Case) -> Files:
    """The files of a case."""
    names, arrays = input_names(case), case.arrays()
    symbol = peer.symbol(case.op, names, case.params, "op")
    params = dict(zip(names, map(peer.array, arrays), strict=True))
    zeros = dict(zip(names, (peer.array(np.zeros_like(values)) for values in arrays), strict=True))
    return Files(symbol.tojson(), od.nd.dumps(params), od.nd.dumps(zeros))


def digest(written: Files) -> str:
    """Eight hexadecimal digits that change with what the files say, but not with an array's last bits."""
    normal = json.dumps(json.loads(written.symbol), sort_keys=True)
    return f"{zlib.crc32(written.header, zlib.crc32(normal.encode())):08x}"
