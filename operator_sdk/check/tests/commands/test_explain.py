from __future__ import annotations

import pytest

from operad_check.catalogue import ENTRIES


def test_every_check_is_listed(run, run_json):
    assert [check["id"] for check in run_json("explain")["checks"]] == list(ENTRIES)
    assert len(run("explain").stdout.splitlines()) == 1 + len(ENTRIES)


@pytest.mark.parametrize("text", ["B301", "b301"])
def test_one_check_is_explained_in_full(run, run_json, text):
    (found,) = run_json("explain", text)["checks"]
    check = ENTRIES["B301"]
    assert found == {
        "id": "B301",
        "group": check.group,
        "title": check.title,
        "why": check.why,
        "example": check.example,
        "fix": check.fix,
    }
    for part in (check.title, check.why, check.example, check.fix):
        assert part in run("explain", text).stdout


def test_an_unknown_id_gets_a_suggestion(run):
    done = run("explain", "B31")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ")
    assert "did you mean" in done.stderr
