"""Damaged files: mutations of real ones, given to the readers of `.params`, symbol JSON and plugin metadata.

Run as a program: `python -m tests.reliability.fuzzing params|json|metadata SECONDS SEED`. Every case is
written to the working folder before it is read, so that one that ends the process stays there. Address
space and the time for one case are limited; an unlimited allocation or a hang is a finding like a crash.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from operad.registry.discovery import read_manifest
from tests.reliability.training import network

MOST_ADDRESS_SPACE_BYTES = 6 << 30
"""Above what NumPy and the readers need, far below what a count of 64 bits in a file can ask for."""
MOST_SECONDS_PER_CASE = 10

_NUMBERS = (
    0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x112, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 62, (1 << 63) - 1, (1 << 64) - 1,
)  # fmt: skip
_TOKENS = (
    b"null", b"-1", b"1e999", b"NaN", b"[]", b"{}", b'""', b'"\\ud800"', b"[[[[", b"9" * 400,
    b"true", b"\x00", b"[operad.operators]", b"\xff\xfe", b"\r\n", b"= :", b"Name:", b"Requires-Dist: ;;;",
    b"()", b"(0,)", b"(1000000000,)",
)  # fmt: skip


def mutated(seeds: list[bytes], rng: random.Random) -> bytes:
    """A damaged copy of one of `seeds`."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at, length = rng.randrange(len(data) + 1), rng.choice((1, 2, 4, 8, 64))
        kind = rng.randrange(8)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at : at + length]
        elif kind == 3:
            data[at:at] = data[at : at + length] * rng.choice((1, 2, 50))
        elif kind == 4:
            size = rng.choice((4, 8))
            value = rng.choice(_NUMBERS) % (1 << (8 * size))
            data[at : at + size] = value.to_bytes(size, "little")
        elif kind == 5:
            data[at:at] = rng.choice(_TOKENS)
        elif kind == 6:
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            data[at : at + length] = other[start : start + length]
        else:
            data[at : at + length] = rng.randbytes(length)
    return bytes(data)


def restructured(text: bytes, rng: random.Random) -> bytes:
    """A symbol file that is JSON still, with one value replaced by another of the file or of none."""
    tree = json.loads(text)
    places: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                stack.append(node[key])
    for _ in range(rng.choice((1, 1, 2, 3))):
        node, key = rng.choice(places)
        other, other_key = rng.choice(places)
        values = [None, -1, 0, 1 << 70, 1.5, "", "x", "\ud800", [], {}, True, "(1000000000,)", "999999999999"]
        try:
            node[key] = rng.choice([*values, json.loads(json.dumps(other[other_key]))])
        except (KeyError, IndexError):  # an earlier replacement took it away
            continue
    return json.dumps(tree).encode()


def params_seeds() -> list[bytes]:
    """Files of arrays in every form that is written."""
    arrays = {
        "arg:a": od.nd.array(np.arange(12.0).reshape(3, 4)),
        "aux:b": od.nd.array([1, 2, 3], dtype="int8"),
        "e": od.nd.array(np.float16([0.5])),
        "empty": od.nd.zeros((0, 3)),
        "scalar": od.nd.zeros(()),
    }
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for data in (arrays, list(arrays.values()), arrays["e"]):
            path = Path(folder) / "file"
            od.nd.save(str(path), data)
            found.append(path.read_bytes())
    return found


def json_seeds() -> list[bytes]:
    """Symbol files."""
    x, y = od.sym.var("x", shape=(2, 3)), od.sym.var("y", lr_mult=2.0)
    several = od.sym.Group([od.sym.Concat(x, y, dim=1), od.sym.SliceChannel(x, num_outputs=3)[1]])
    return [symbol.tojson().encode() for symbol in (network(), several, od.sym.tanh(x) * 2.0 + y)]


def metadata_seeds() -> list[bytes]:
    """METADATA and entry_points.txt, the two divided by a form feed."""
    metadata = b"Metadata-Version: 2.1\nName: acme-ops\nVersion: 1.0\nRequires-Dist: operad>=0.2,<1\n\nText\n"
    points = (
        b"[operad.operators]\nacme = acme.ops:Acme\nother = acme.ops:Other\n\n[console_scripts]\na = b:c\n"
    )
    return [metadata + b"\f" + points, metadata.replace(b"\n", b"\r\n") + b"\f" + points]


def read_params(path: Path, data: bytes) -> None:
    """The reader of `.params` files."""
    path.write_bytes(data)
    od.nd.load(str(path))


def read_json(path: Path, data: bytes) -> None:
    """The reader of symbol files, and what a user does next."""
    path.write_bytes(data)
    symbol = od.sym.load(str(path))
    known = dict.fromkeys(symbol.list_arguments()[:1], (2, 1, 12, 12))
    symbol.infer_shape_partial(**known)
    symbol.infer_type(**dict.fromkeys(known, "float32"))
    od.sym.load_json(symbol.tojson())


def read_metadata(path: Path, data: bytes) -> None:
    """The reader of plugin metadata, with the damaged distribution in front of a sound one."""
    info = _distribution(path.parent / "damaged", "acme_ops-1.0")
    metadata, _, points = data.partition(b"\f")
    (info / "METADATA").write_bytes(metadata)
    (info / "entry_points.txt").write_bytes(points)
    manifest = read_manifest()
    owners = {owner.name for owner in manifest.distributions}
    if "sound-ops" not in owners:
        raise RuntimeError(f"another distribution was lost: {sorted(owners)}")


def _distribution(folder: Path, name: str) -> Path:
    info = folder / f"{name}.dist-info"
    info.mkdir(exist_ok=True, parents=True)
    return info


def _only_distributions_of(folder: Path) -> None:
    """Hide what is installed, which takes longer to read than a case does."""
    sound = _distribution(folder / "sound", "sound_ops-1.0")
    (sound / "METADATA").write_text("Metadata-Version: 2.1\nName: sound-ops\nVersion: 1.0\n")
    (sound / "entry_points.txt").write_text("[operad.operators]\nsound = sound.ops:Sound\n")
    places = [place for place in sys.path if "site-packages" not in place]
    sys.path[:] = [str(folder / "damaged"), str(folder / "sound"), *places]


READERS: dict[str, tuple[Callable[[], list[bytes]], Callable[[Path, bytes], None]]] = {
    "params": (params_seeds, read_params),
    "json": (json_seeds, read_json),
    "metadata": (metadata_seeds, read_metadata),
}


def _too_long(*_: object) -> None:
    raise TimeoutError(f"one case took more than {MOST_SECONDS_PER_CASE} s")


def main(kind: str, seconds: float, seed: int, folder: Path) -> int:
    """Read damaged files for some seconds; how many were read, the first of which that misbehaved is left."""
    make_seeds, read = READERS[kind]
    rng, seeds, path = random.Random(seed), make_seeds(), folder / "case"
    if kind == "metadata":
        _only_distributions_of(folder)
    for data in seeds:
        with contextlib.suppress(od.OperadError):
            read(path, data)  # what is imported on first use is found now
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESS_SPACE_BYTES, MOST_ADDRESS_SPACE_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        is_tree = kind == "json" and rng.random() < 0.6
        data = restructured(rng.choice(seeds), rng) if is_tree else mutated(seeds, rng)
        (folder / "last").write_bytes(data)
        count += 1
        signal.alarm(MOST_SECONDS_PER_CASE)
        with contextlib.suppress(od.OperadError):
            read(path, data)
        signal.alarm(0)
    print(count)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
