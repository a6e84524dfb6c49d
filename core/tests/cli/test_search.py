"""`operad search`: names before words, what is installed before what is not, and no import."""

from __future__ import annotations

import json

import pytest

from operad.cli.listing import to_json
from operad.cli.search import FORMAT, Index, IndexedPlugin, first_lines

ELSEWHERE = IndexedPlugin(
    name="zeta-layers",
    version="2.1",
    summary="Layers with gates, densely connected.",
    keywords=["gates"],
    requires=[],
    requires_python=">=3.11",
    home="",
    file="zeta_layers-2.1-py3-none-any.whl",
    sha256="",
    provides={"operad.operators": ["zeta_dense"]},
    operators={"zeta_dense": "A dense layer."},
    versions=["2.1", "2.0"],
)


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "index.json"
    path.write_text(to_json(Index(FORMAT, [ELSEWHERE])))
    return path


def test_the_name_itself_stands_first_with_its_documentation(acme, run_json):
    found = run_json("search", "dense")["found"]
    assert [(one["name"], one["is_installed"]) for one in found[:2]] == [("Dense", True), ("dense", True)]
    assert found[0]["summary"] == "A documented operator."
    assert not acme.is_imported("acme_ops")


def test_an_index_is_searched_behind_what_is_installed(acme, run, run_json, index):
    found = run_json("search", "dense", "--index", str(index))["found"]
    assert [one["name"] for one in found] == ["Dense", "dense", "zeta_dense", "zeta-layers"]
    assert [one["is_installed"] for one in found] == [True, True, False, False]
    assert "pip install zeta-layers" in run("search", "gates", "--index", str(index)).stdout


def test_words_of_a_text_are_found_where_they_begin(acme, run_json, index):
    assert run_json("search", "gates", "--index", str(index))["found"]
    assert not run_json("search", "ates", "--index", str(index))["found"]


def test_nothing_found_ends_with_1_and_says_what_else_to_try(acme, run):
    done = run("search", "nothing-of-the-kind")
    assert done.exit_code == 1
    assert "--index FILE" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "is not an index of plugins"),
        ("nonsense", "is not an index of plugins"),
        (json.dumps({"format": FORMAT + 1, "plugins": []}), f"expected {FORMAT}: upgrade operad"),
    ],
)
def test_a_file_that_is_no_index_is_refused(acme, run, tmp_path, text, words):
    path = tmp_path / "bad.json"
    path.write_text(text)
    done = run("search", "x", "--index", str(path))
    assert done.exit_code == 1
    assert words in done.stderr


def test_documentation_of_sources_that_cannot_be_parsed_is_empty():
    sources = {"good": 'def f():\n    """First.\n\n    Second."""\n', "bad": "def (", "deep": "(" * 10**5}
    entries = {"f": "good:f", "g": "good:absent", "h": "bad:f", "i": "deep:f", "j": "gone:f"}
    assert first_lines(entries, sources.get) == {"f": "First.", "g": "", "h": "", "i": "", "j": ""}
