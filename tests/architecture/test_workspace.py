from __future__ import annotations

from pathlib import Path

from tools.workspace import Distribution, Environment, distributions, requirements


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_folder_with_a_pyproject_is_a_distribution(tmp_path: Path) -> None:
    for folder in (
        "plugins/shape",
        "core",
        "contrib_ops/fft",
        "plugins/elemwise",
        "operator_sdk/sdk",
        "docs",
    ):
        _write(tmp_path / folder / "pyproject.toml", f'[project]\nname = "operad-{folder.split("/")[-1]}"')
    (tmp_path / "plugins" / "unfinished").mkdir()

    found = [d.folder.relative_to(tmp_path).as_posix() for d in distributions(tmp_path)]

    assert found == ["core", "operator_sdk/sdk", "plugins/elemwise", "plugins/shape", "contrib_ops/fft"]


def test_guests_of_the_core_are_plugins(tmp_path: Path) -> None:
    for folder in ("core", "operator_sdk/check", "plugins/shape", "contrib_ops/fft"):
        _write(tmp_path / folder / "pyproject.toml", '[project]\nname = "x"')

    assert [d.is_plugin for d in distributions(tmp_path)] == [False, False, True, True]


def test_a_requirement_group_may_include_another(tmp_path: Path) -> None:
    groups = '[dependency-groups]\ntest = ["pytest>=8"]\ndev = [{ include-group = "test" }, "ruff>=0.5"]'
    _write(tmp_path / "pyproject.toml", groups)

    assert requirements("dev", tmp_path) == ["pytest>=8", "ruff>=0.5"]


def test_set_up_installs_every_extra_but_those_of_devices_and_of_large_libraries() -> None:
    extras = {"plot": ["matplotlib"], "gpu": ["cupy-cuda12x"], "check": ["hypothesis"], "torch": ["torch"]}
    sdk = Distribution(Path("sdk"), {"project": {"name": "operad-sdk", "optional-dependencies": extras}})
    bare = Distribution(Path("shape"), {"project": {"name": "operad-shape"}})

    assert sdk.with_extras() == "sdk[check,plot]"
    assert bare.with_extras() == "shape"


def test_a_half_written_folder_says_what_it_lacks(tmp_path: Path) -> None:
    shape = Distribution(tmp_path, {"project": {"name": "operad-shape", "readme": "README.md"}})
    assert shape.missing() == ["README.md", "src/operad_shape"]

    _write(tmp_path / "README.md", "# operad-shape")
    _write(tmp_path / "src" / "operad_shape" / "__init__.py", "")
    assert shape.missing() == []


_HOST = """\
#!/bin/sh
mkdir -p "$3/bin"
touch "$3/bin/pip"
printf '#!/bin/sh\\necho "$*" >> %s/log\\n' "$(dirname "$0")" > "$3/bin/python"
chmod +x "$3/bin/python"
"""


def test_pins_go_with_every_installation(tmp_path: Path) -> None:
    _write(tmp_path / "pyproject.toml", '[dependency-groups]\ndev = ["pytest>=9"]')
    _write(tmp_path / "core" / "pyproject.toml", '[project]\nname = "operad"')
    _write(tmp_path / "core" / "README.md", "# operad")
    (tmp_path / "core" / "src" / "operad").mkdir(parents=True)
    _write(tmp_path / "host", _HOST)
    (tmp_path / "host").chmod(0o755)

    def installed(*pins: str) -> list[list[str]]:
        (tmp_path / "log").write_text("")
        Environment(tmp_path, "build/old", str(tmp_path / "host"), pins).update()
        return [line.split()[-2:] for line in (tmp_path / "log").read_text().splitlines()]

    assert installed("numpy==2.1.0") == [
        ["pytest>=9", "numpy==2.1.0"],
        [str(tmp_path / "core"), "numpy==2.1.0"],
    ]
    assert installed("numpy==2.1.0") == []
    assert installed("numpy==2.2.0") == [["pytest>=9", "numpy==2.2.0"]]
