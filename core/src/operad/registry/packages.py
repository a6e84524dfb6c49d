"""Packages of this repository by what they provide, so that an error can say what to install.

Only messages read this; what is installed speaks for itself through its entry points. `packages.json`
is written from the entry points that the packages declare (`make format`), so a message never names
a package that does not exist. `names.json` is written by hand: MXNet's names by group of entry points,
provided yet or not, and under "elsewhere" those for what NumPy and PyTorch call otherwise, best first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, final

_CHECKOUT: Final = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))


@final
class Package(NamedTuple):
    """A package of this repository.

    Attributes:
        folder: Where it stands there, such as `plugins/fully_connected`.
    """

    folder: str

    @property
    def distribution(self) -> str:
        """Name for pip."""
        return f"operad-{self.folder.rpartition('/')[2].replace('_', '-')}"

    def install_line(self) -> str:
        """The command that installs it: from the checkout, where this core runs from one."""
        return f"pip install {' '.join(self.requirements())}"

    def requirements(self) -> list[str]:
        """Argument for pip, quoted for a shell."""
        root = checkout()
        if root is None or not os.path.isdir(os.path.join(root, self.folder)):
            return [self.distribution]
        return [_path(root, folder) for folder in _with_missing(root, self.folder)]


def packages(group: str) -> Mapping[str, Package]:
    """The package to install for each name in `group` that some package provides."""
    found = read_table("packages.json").get(group, {})
    return {name: Package(folder) for folder, names in found.items() for name in names.split()}


def install_line(names: Iterable[str], group: str = "operad.operators") -> str | None:
    """One command that installs what provides `names`, as far as packages do; None where none does."""
    known = packages(group)
    words = [word for name in names if name in known for word in known[name].requirements()]
    return f"pip install {' '.join(dict.fromkeys(words))}" if words else None


def package_of(name: str, group: str = "operad.operators") -> str | None:
    """The distribution of this repository that provides `name`, installed or not; None where none does."""
    return None if (found := packages(group).get(name)) is None else found.distribution


def unwritten(group: str) -> frozenset[str]:
    """MXNet's names in `group` that no package provides yet."""
    names = read_table("names.json")["mxnet"].get(group, ())
    return frozenset(" ".join(names).split()) - packages(group).keys()


def names_elsewhere() -> Mapping[str, str]:
    """MXNet's operators, separated by spaces, for each name that NumPy or PyTorch has for them."""
    return read_table("names.json")["elsewhere"]


def standard_line() -> str:
    """The command that installs every first-party operator plugin."""
    root = checkout()
    if root is None:
        return "pip install operad-standard"
    # Together, because they require each other and no index has them.
    return f"pip install {_path(root, 'operator_sdk')}/* {_path(root, 'plugins')}/*"


def checkout() -> str | None:
    """The repository that this core runs from; None where it was installed from a wheel."""
    return _CHECKOUT if os.path.isfile(os.path.join(_CHECKOUT, "core", "pyproject.toml")) else None


def _with_missing(root: str, folder: str) -> list[str]:
    """A folder of the checkout behind those it requires that are not installed, which no index has."""
    import re  # noqa: PLC0415 - 3 ms that only a missing name costs, as the next
    import tomllib  # noqa: PLC0415

    required: Iterable[str] = ()
    with suppress(OSError), open(os.path.join(root, folder, "pyproject.toml"), "rb") as file:
        required = tomllib.load(file)["project"].get("dependencies", ())
    found: list[str] = []
    for name in re.findall(r"^operad-([a-z-]+)", "\n".join(required), re.MULTILINE):
        word = name.replace("-", "_")
        places = [f"{group}/{word}" for group in ("operator_sdk", "plugins", "contrib_ops")]
        there = [place for place in places if os.path.isdir(os.path.join(root, place))]
        if there and not find_spec(f"operad_{word}"):
            found += _with_missing(root, there[0])
    return list(dict.fromkeys([*found, folder]))


def _path(root: str, folder: str) -> str:
    from shlex import quote  # noqa: PLC0415 - 3 ms that only a missing name costs

    return (
        f"./{folder}" if os.path.realpath(os.curdir) == os.path.realpath(root) else quote(f"{root}/{folder}")
    )


@cache
def read_table(name: str) -> dict[str, dict[str, Any]]:
    """A table of this folder, by its file's name; messages do without one that cannot be read."""
    import json  # noqa: PLC0415 - 3 ms that only a missing name costs

    found: dict[str, dict[str, Any]] = {"mxnet": {}, "elsewhere": {}}
    with suppress(OSError), open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        found = json.load(file)
    return found
