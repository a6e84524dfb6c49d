"""`operad export`: a package that brings the operators of a plugin to another framework."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

import click

from operad.cli import Listing, Mark, Page
from operad_export.package import exported, package_name, write_package


@final
@dataclass(frozen=True, slots=True)
class WrittenPackage:
    """Result of `operad export`.

    Attributes:
        folder: The package's folder.
        package: The package's name for pip.
        operators: The operators that it brings.
        refused: Operators that cannot be exported, with the reason.
        written: Files, by their path in the folder.
    """

    folder: str
    package: str
    operators: list[str]
    refused: dict[str, str]
    written: list[str]

    @property
    def exit_code(self) -> int:
        """Always 0: what is refused is so by its nature."""
        return 0

    def show(self, page: Page) -> None:
        """Write the files, what is left out, and the next step."""
        page.text(Mark(self.folder, "name"))
        page.table(("file",), [(file,) for file in self.written])
        page.text(f"{len(self.operators)} operators: {', '.join(self.operators)}")
        for reason in self.refused.values():
            page.text(f"left out: {reason}")
        page.text(f"next: python -m build {self.folder}, or pip install -e {self.folder}")


@click.command(cls=Listing, result=WrittenPackage)
@click.option("--torch", "framework", flag_value="torch", help="For PyTorch, as torch.ops.operad.<name>.")
@click.option("--jax", "framework", flag_value="jax", help="For JAX, as functions of arrays.")
@click.option(
    "-o", "--output", metavar="FOLDER", type=click.Path(file_okay=False, path_type=Path),
    help="New folder for the package; default: its name.",
)  # fmt: skip
@click.argument("package")
def export(framework: str | None, output: Path | None, package: str) -> WrittenPackage:
    """Write a package with the operators of the installed plugin PACKAGE for another framework."""
    if framework is None:
        raise click.UsageError("say which framework: --torch or --jax")
    found = exported(package)
    folder = output or Path(package_name(found.distribution, framework))
    written = write_package(framework, found, folder)
    return WrittenPackage(
        str(folder),
        package_name(found.distribution, framework),
        list(found.names),
        dict(found.refused),
        written,
    )
