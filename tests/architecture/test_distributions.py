"""Every distribution stands on its own feet: it declares what it needs and carries what it should."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from operad.cli.doctor.metadata import GROUPS
from tools.project_metadata import written
from tools.workspace import ROOT, Distribution, distributions

ALL = distributions()
GUESTS = [d for d in ALL if d.name != "operad"]
PLUGINS = [d for d in ALL if d.is_plugin]
VERSION = "0.3.0"
_MAJOR, _MINOR = map(int, VERSION.split(".")[:2])
CORE_RANGE = f"<{_MAJOR}.{_MINOR + 1},>={_MAJOR}.{_MINOR}"

# A row of docs/platforms.md, of the whole suite under some releases of Python.
RUN = re.compile(
    r"^\| Python (?P<releases>[\d., ]+) with the newest packages \|.*\| both suites \| passed \|$"
)

# Imported under one name, installed under another that need not be installed here.
INSTALLED_AS = {"cupy": "cupy-cuda12x"}


def _by_name(found: list[Distribution]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("distribution", found, ids=lambda d: d.name)


def _package_folder(distribution: Distribution) -> Path:
    return distribution.folder / "src" / distribution.package


def _declared(distribution: Distribution) -> dict[str, Requirement]:
    project = distribution.declared["project"]
    lines = list(project.get("dependencies", []))
    for extra in project.get("optional-dependencies", {}).values():
        lines += extra
    found = [Requirement(line) for line in lines]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def _imported(folder: Path) -> Iterator[tuple[str, Path]]:
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from ((alias.name.partition(".")[0], file) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0], file


def test_the_workspace_holds_the_core_the_toolkit_and_plugins() -> None:
    assert [d.name for d in ALL[:3]] == ["operad", "operad-sdk", "operad-check"]
    assert PLUGINS


@pytest.mark.walk
@_by_name(ALL)
def test_is_named_after_its_folder(distribution: Distribution) -> None:
    folder = distribution.folder.name.replace("_", "-")
    assert distribution.name == ("operad" if folder == "core" else f"operad-{folder}")


@pytest.mark.walk
@_by_name(ALL)
def test_carries_readme_type_marker_and_tests(distribution: Distribution) -> None:
    assert distribution.name in (distribution.folder / "README.md").read_text()
    assert (_package_folder(distribution) / "py.typed").is_file()
    assert list((distribution.folder / "tests").rglob("test_*.py"))


@pytest.mark.walk
@_by_name(ALL)
def test_declares_what_an_index_shows(distribution: Distribution) -> None:
    project = distribution.declared["project"]
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "Apache-2.0"
    assert project["readme"] == "README.md"
    assert project["description"]
    assert project["version"] == VERSION
    assert project["authors"] == [{"name": "operad developers"}]
    assert "Typing :: Typed" in project["classifiers"]
    assert len(project["keywords"]) == len({*project["keywords"]}) > 1
    assert {"Homepage", "Documentation", "Source", "Changelog"} <= project["urls"].keys()


def test_links_lead_to_one_repository_and_to_files_that_are_there() -> None:
    (urls,) = {tuple(each.declared["project"]["urls"].items()) for each in ALL}
    links = dict(urls)
    assert {link.removeprefix(links["Source"]).partition("/blob/main/")[0] for link in links.values()} == {""}
    for name in ("Documentation", "Changelog"):
        assert (ROOT / links[name].partition("/blob/main/")[2]).is_file()


def test_classifiers_name_each_python_that_ran_both_suites() -> None:
    rows = [RUN.match(line) for line in (ROOT / "docs/platforms.md").read_text().splitlines()]
    releases = [release for row in rows if row for release in row["releases"].split(", ")]
    ran = sorted({tuple(map(int, release.split(".")[:2])) for release in releases})
    expected = [f"Programming Language :: Python :: {major}.{minor}" for major, minor in ran]
    for distribution in ALL:
        classifiers = distribution.declared["project"]["classifiers"]
        assert [each for each in classifiers if "Python :: 3" in each] == expected, distribution.name


@pytest.mark.walk
@_by_name(ALL)
def test_metadata_is_as_make_format_writes_it(distribution: Distribution) -> None:
    text = (distribution.folder / "pyproject.toml").read_text()
    assert written(distribution) == text, f"{distribution.name} is stale; run `make format`"


@pytest.mark.walk
@_by_name(ALL)
@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_carries_the_workspaces_licence(distribution: Distribution, name: str) -> None:
    assert (distribution.folder / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_core_says_the_same_version() -> None:
    assert f'__version__ = "{VERSION}"' in (_package_folder(ALL[0]) / "__init__.py").read_text()


@pytest.mark.walk
@_by_name(GUESTS)
def test_declares_the_range_of_everything_of_ours(distribution: Distribution) -> None:
    project = distribution.declared["project"]
    extras = project.get("optional-dependencies", {}).values()
    lines = [*project["dependencies"], *(line for lines in extras for line in lines)]
    ours = {r.name: str(r.specifier) for r in map(Requirement, lines) if r.name.startswith("operad")}
    assert "operad" in ours
    assert set(ours.values()) == {CORE_RANGE}


@pytest.mark.walk
@_by_name(ALL)
def test_bounds_every_dependency(distribution: Distribution) -> None:
    for requirement in _declared(distribution).values():
        operators = {part.operator for part in requirement.specifier}
        assert operators == {">=", "<"}, f"{requirement}: expected a range such as >=1.2,<2"


def test_all_that_use_numpy_declare_one_range() -> None:
    # `make test-pythons` runs everything together: it can prove no lower bound but the highest.
    declared = {d.name: _declared(d).get("numpy") for d in ALL}
    assert {str(each.specifier) for each in declared.values() if each is not None} == {"<3,>=2.2.5"}


provided = cache(packages_distributions)


@pytest.mark.walk
@_by_name(ALL)
def test_declares_every_library_it_imports(distribution: Distribution) -> None:
    own_names = provided()
    declared = _declared(distribution).keys() | {distribution.name}
    for module, file in _imported(_package_folder(distribution)):
        if module in sys.stdlib_module_names:
            continue
        providers = {canonicalize_name(name) for name in own_names.get(module, [])}
        providers.add(INSTALLED_AS.get(module, canonicalize_name(module)))
        assert providers & declared, f"{file.relative_to(ROOT)} imports {module}, which is not declared"


@pytest.mark.walk
@_by_name(PLUGINS)
def test_entry_points_lead_into_its_own_package(distribution: Distribution) -> None:
    groups = distribution.declared["project"].get("entry-points", {})
    for group, points in groups.items():
        assert group in GROUPS or not group.startswith("operad."), f"`operad doctor` would warn of {group}"
        for name, target in points.items():
            module = distribution.folder / "src" / target.partition(":")[0].replace(".", "/")
            exists = module.with_suffix(".py").is_file() or (module / "__init__.py").is_file()
            assert exists, f"{group}: {name} = {target}"
            assert target.startswith(distribution.package)


def test_only_authors_tools_require_the_harness() -> None:
    users = {d.name for d in ALL if "operad-check" in _declared(d)}
    assert users == {"operad-check-jax", "operad-check-pytest", "operad-check-torch"}


def test_no_two_distributions_provide_one_operator() -> None:
    providers: dict[str, list[str]] = {}
    for distribution in ALL:
        for name in distribution.entry_points("operad.operators"):
            providers.setdefault(name, []).append(distribution.name)
    assert {name: who for name, who in providers.items() if len(who) > 1} == {}
