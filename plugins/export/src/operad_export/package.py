"""Packages that bring the operators of a plugin to another framework, as files.

A package is an import: `import acme_ops_torch` registers `torch.ops.operad.<name>` for each operator of
`acme-ops`. What computes stays in the plugin, so there is nothing to compile, and a new version of the plugin
is a new version of its operators everywhere. Nothing here needs the framework.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, final

import operad
from operad.errors import ArgumentError, UnsupportedError
from operad.files import write_atomically
from operad_export.signature import signature_of
from operad_export.torch_schema import schema, visible_returns

FRAMEWORKS: Final = ("torch", "jax")


@final
class Exported(NamedTuple):
    """Operators of a plugin that go into a package.

    Attributes:
        distribution: The plugin's name; `version` is the plugin's.
        names: Its operators, by their main names, sorted.
        refused: Those that cannot be exported, with the reason.
    """

    distribution: str
    version: str
    names: Sequence[str]
    refused: Mapping[str, str]


def exported(distribution: str) -> Exported:
    """The operators of an installed plugin.

    Raises:
        ArgumentError: No plugin of that name is installed, or it has no operators.
    """
    wanted = distribution.replace("_", "-").lower()
    records = [r for r in operad.registry.operators().values() if r.distribution.lower() == wanted]
    if not records:
        raise ArgumentError(
            f"export: no installed plugin {distribution!r} has operators; see `operad plugins`"
        )
    names, refused = [], {}
    for record in records:
        if record.is_alias:
            continue
        try:
            schema(signature_of(record.name), mutates=True, returns="Tensor")
            names.append(record.name)
        except UnsupportedError as error:
            refused[record.name] = str(error)
    return Exported(records[0].distribution, records[0].version, names, refused)


def package_name(distribution: str, framework: str) -> str:
    """Name of the package that brings a plugin to a framework: `operad-box-torch`."""
    return f"{distribution}-{framework}"


def write_package(framework: str, found: Exported, folder: Path) -> list[str]:
    """Write a package; returns the files, by their path in `folder`, which must be empty or new.

    Raises:
        ArgumentError: There is something in the folder, or nothing to export.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ArgumentError(f"export: {str(folder)!r} is not empty; name another folder with --output")
    if not found.names:
        raise ArgumentError(f"export: no operator of {found.distribution} can be exported to {framework}")
    name = package_name(found.distribution, framework)
    module = name.replace("-", "_")
    files = {
        "pyproject.toml": _PROJECT.format(name=name, module=module, framework=framework, **_about(found)),
        "README.md": _readme(framework, name, module, found),
        f"src/{module}/__init__.py": _MODULES[framework](module, found),
        f"src/{module}/py.typed": "",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, text.encode())
    return list(files)


def torch_line(name: str) -> str:
    """An operator as PyTorch declares it: `operad::LRN(Tensor data, *, int nsize, ...) -> Tensor`."""
    signature = signature_of(name)
    return f"operad::{name}{schema(signature, mutates=True, returns=visible_returns(signature))}"


def jax_line(name: str) -> str:
    """An operator as a function of JAX's arrays: `LRN(data, *, nsize, alpha=0.0001, ...)`."""
    signature = signature_of(name)
    if signature.tensors is None:
        arrays = ["*arrays"]
    else:
        arrays = [t.name + ("=None" if t.is_optional else "") for t in signature.tensors]
        arrays.append("*")
    params = [n if p.is_required else f"{n}={p.default!r}" for n, p in signature.params.items()]
    return f"{name}({', '.join([*arrays, *params, 'is_train=False', *['key'] * signature.draws])})"


def _about(found: Exported) -> dict[str, str]:
    core = operad.__version__.rpartition(".")[0]
    major, _, minor = core.partition(".")
    return {
        "distribution": found.distribution,
        "version": found.version,
        "core": f">={core},<{major}.{int(minor) + 1}",
    }


def _torch_module(module: str, found: Exported) -> str:
    return f'''"""Operators of {found.distribution} for PyTorch, registered as `torch.ops.operad.<name>`."""

from operad_export import register_torch

OPERATORS = {_tuple(found.names)}
"""Names in `torch.ops.operad`."""

register_torch(OPERATORS)
'''


def _jax_module(module: str, found: Exported) -> str:
    lines = "\n".join(f'{_identifier(name)} = _functions["{name}"]' for name in found.names)
    return f'''"""Operators of {found.distribution} as functions of JAX's arrays."""

from operad_export import register_jax

OPERATORS = {_tuple(found.names)}
"""Names of the functions."""

_functions = register_jax(OPERATORS)
{lines}
'''


_MODULES: Final[Mapping[str, Callable[[str, Exported], str]]] = {"torch": _torch_module, "jax": _jax_module}


def _tuple(names: Sequence[str]) -> str:
    return "(\n" + "".join(f'    "{name}",\n' for name in names) + ")"


def _identifier(name: str) -> str:
    return name.replace(".", "_")


def _readme(framework: str, name: str, module: str, found: Exported) -> str:
    shown, line = ("PyTorch", torch_line) if framework == "torch" else ("JAX", jax_line)
    where = (
        f"    import {module}\n    torch.ops.operad.{found.names[0]}(...)"
        if framework == "torch"
        else f"    from {module} import {_identifier(found.names[0])}"
    )
    refused = "".join(f"* `{key}`: {why}\n" for key, why in found.refused.items())
    declared = "\n".join(line(each) for each in found.names)
    return (
        f"# {name}\n\nThe operators of {found.distribution} {found.version} for {shown}, on the CPU.\n\n"
        f"    pip install {name}\n\n{where}\n\n```\n{declared}\n```\n"
        + (f"\nNot exported:\n\n{refused}" if refused else "")
        + "\nWritten by `operad export`. `is_train` says whether a call is a step of training; tensors that "
        "may be None are absent for some parameters.\n"
    )


_PROJECT: Final = """\
[build-system]
requires = ["hatchling>=1.24"]
build-backend = "hatchling.build"

[project]
name = "{name}"
description = "The operators of {distribution} for {framework}."
version = "{version}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["operad-export[{framework}]{core}", "{distribution}=={version}"]

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
"""
