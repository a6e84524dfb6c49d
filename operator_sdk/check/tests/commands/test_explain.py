from __future__ import annotations

import pytest

from operad_sdk.check.catalogue import ENTRIES
from operad_sdk.commands import extras


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


def test_a_missing_library_names_its_extra():
    wanted = r'needs no_such_library, which is not installed; pip install "operad-sdk\[check\]"'
    with pytest.raises(extras.MissingExtra, match=wanted) as caught, extras.extra("check"):
        import no_such_library  # noqa: F401
    assert caught.value.exit_code == 2


def test_a_fault_of_our_own_is_not_blamed_on_an_extra():
    with pytest.raises(ModuleNotFoundError, match=r"operad_sdk\.nowhere"), extras.extra("check"):
        import operad_sdk.nowhere  # noqa: F401
