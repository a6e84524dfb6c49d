from __future__ import annotations

import ast

from operad.cli.stubs.package import stub_package


def test_a_package_of_nobody_leaves_names_of_others_open() -> None:
    files = stub_package({}, of=())
    assert set(files) >= {"py.typed", "__init__.pyi", "nd.pyi", "sym.pyi"}
    for name, text in files.items():
        if name.endswith(".pyi"):
            ast.parse(text)
    assert "def __getattr__" in files["nd.pyi"]
    assert files["py.typed"] == "partial\n"
