from __future__ import annotations

from pathlib import Path

from tools.workspace import Distribution, distributions, requirements


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_folder_with_a_pyproject_is_a_distribution(tmp_path: Path) -> None:
    for folder in ("plugins/shape", "core", "contrib_ops/fft", "plugins/elemwise", "operator_sdk", "docs"):
        _write(tmp_path / folder / "pyproject.toml", f'[project]\nname = "operad-{folder.split("/")[-1]}"')
    (tmp_path / "plugins" / "unfinished").mkdir()

    found = [d.folder.relative_to(tmp_path).as_posix() for d in distributions(tmp_path)]

    assert found == ["core", "operator_sdk", "plugins/elemwise", "plugins/shape", "contrib_ops/fft"]


def test_guests_of_the_core_are_plugins(tmp_path: Path) -> None:
    for folder in ("core", "operator_sdk", "plugins/shape", "contrib_ops/fft"):
        _write(tmp_path / folder / "pyproject.toml", '[project]\nname = "x"')

    assert [d.is_plugin for d in distributions(tmp_path)] == [False, False, True, True]


def test_a_requirement_group_may_include_another(tmp_path: Path) -> None:
    groups = '[dependency-groups]\ntest = ["pytest>=8"]\ndev = [{ include-group = "test" }, "ruff>=0.5"]'
    _write(tmp_path / "pyproject.toml", groups)

    assert requirements("dev", tmp_path) == ["pytest>=8", "ruff>=0.5"]


def test_set_up_installs_every_extra_that_needs_no_device() -> None:
    extras = {"plot": ["matplotlib"], "gpu": ["cupy-cuda12x"], "check": ["hypothesis"]}
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
