from __future__ import annotations

import pytest

from operad import registry


@pytest.fixture
def broken(acme):
    acme.install(
        "broken-ops",
        operators={"lost": "broken_ops:lost", "kept": "acme_ops:double"},
        modules={"broken_ops": "print('noise')\nimport no_such_library\n"},
    )
    acme.install("old-ops", operators={"old": "old_ops:old"}, requires=("operad<0.2",))
    registry.refresh()
    return acme


def states(found):
    return {plugin["name"]: plugin["state"] for plugin in found["plugins"]}


def test_listing_imports_nothing_and_so_knows_nothing_broken(broken, run_json):
    assert states(run_json("plugins")) == {"acme-ops": "ok", "broken-ops": "ok", "old-ops": "incompatible"}
    assert not broken.is_imported("acme_ops")


def test_broken_loads_everything_and_lists_what_has_a_problem(broken, run_json):
    found = run_json("plugins", "--broken")
    assert states(found) == {"broken-ops": "broken", "old-ops": "incompatible"}
    (failure,) = found["plugins"][0]["failures"]
    assert (failure["group"], failure["name"]) == ("operad.operators", "lost")
    assert "No module named 'no_such_library'" in failure["reason"]
    assert "import no_such_library" in failure["traceback"]


def test_a_broken_plugin_is_a_finding(broken, run):
    done = run("plugins", "--broken")
    assert done.exit_code == 1
    assert "import no_such_library" in done.stdout


def test_a_blocked_plugin_is_as_it_should_be(acme, run, set_environment):
    set_environment(BLOCK="acme-ops")
    done = run("plugins")
    assert done.exit_code == 0
    assert "acme-ops  1.5      blocked  4 operators" in done.stdout


def test_without_plugins_the_list_says_so(site, run, run_json):
    assert run("plugins").stdout == "none\n"
    assert run_json("plugins") == {"plugins": []}
