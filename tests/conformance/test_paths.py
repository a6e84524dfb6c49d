"""Every file of MXNet 1.9.1's package by its path, and its public modules by star."""

from __future__ import annotations

import pytest

from operad_mxnet.port.names import find, record
from tests.conformance.recorded.paths import imports, paths

MXNET_HAS_IT = "MXNet has it, and no package of operad does: "


@pytest.mark.walk
@pytest.mark.parametrize("path", paths())
def test_a_file_is_imported_by_its_path_or_says_why_it_is_absent(path: str) -> None:
    error = imports().errors.get(path)
    assert error is None or MXNET_HAS_IT in error


@pytest.mark.walk
@pytest.mark.parametrize("module", list(record()))
def test_a_star_brings_every_name_that_is_not_absent(module: str) -> None:
    missing = record()[module].difference(imports().stars.get(module, []))
    silent = [name for name in missing if find(f"{module}.{name}".lstrip(".")).standing != "absent"]
    assert silent == []


def test_every_public_module_is_a_file_of_the_package() -> None:
    assert set(record()) <= set(paths())
