from __future__ import annotations

import pytest

from operad import registry

LISTENER = """
import pluggy
hookimpl = pluggy.HookimplMarker("operad")
seen = []

@hookimpl
def executor_bound(executor):
    seen.append(executor)

@hookimpl
def arrays_saved():
    return ["{name}"]
"""


def install(site, name: str, source: str) -> None:
    module = name.replace("-", "_") + "_listens"
    site.install(name, hooks={"listener": module}, modules={module: source})
    registry.refresh()


def state(name: str) -> tuple[str, str | None]:
    return next((p.state, p.reason) for p in registry.plugins() if p.name == name)


def test_where_nobody_listens_a_call_gives_no_results(site):
    assert registry.hooks().executor_bound(executor=1) == []
    assert registry.hooks().arrays_saved(path="p", names=[]) == []


def test_a_hook_that_does_not_exist_is_refused_where_nobody_listens(site):
    with pytest.raises(AttributeError, match="no hook 'executor_bond'"):
        registry.hooks().executor_bond(executor=1)


def test_every_plugin_that_listens_is_called(site):
    install(site, "acme-a", LISTENER.format(name="a"))
    install(site, "acme-b", LISTENER.format(name="b"))
    assert sorted(registry.hooks().arrays_saved(path="p", names=[])) == [["a"], ["b"]]
    registry.hooks().executor_bound(executor="an executor")
    import acme_a_listens
    import acme_b_listens

    assert acme_a_listens.seen == acme_b_listens.seen == ["an executor"]


def test_the_relay_is_made_once_until_refresh(site):
    install(site, "acme-a", LISTENER.format(name="a"))
    relay = registry.hooks()
    assert registry.hooks() is relay
    site.uninstall("acme-a")
    registry.refresh()
    assert registry.hooks().arrays_saved(path="p", names=[]) == []


def test_one_module_named_twice_listens_once(site):
    site.install(
        "acme-a",
        hooks={"first": "acme_a_listens", "second": "acme_a_listens"},
        modules={"acme_a_listens": LISTENER.format(name="a")},
    )
    registry.refresh()
    assert registry.hooks().arrays_saved(path="p", names=[]) == [["a"]]


MARK = "import pluggy\nhookimpl = pluggy.HookimplMarker('operad')\n"
MISFITS = {
    "import": ("raise SystemExit", "SystemExit"),
    "argument": (f"{MARK}@hookimpl\ndef executor_bound(excutor): pass", "excutor"),
    "unknown": (f"{MARK}@hookimpl\ndef executor_bond(executor): pass", "executor_bond"),
    "nothing": ("x = 1", "implements none of the hooks"),
}


@pytest.mark.parametrize(("source", "shown"), MISFITS.values(), ids=MISFITS.keys())
def test_a_misfit_is_left_out_with_the_reason_and_the_others_are_called(site, source, shown):
    install(site, "acme-a", source)
    install(site, "acme-b", LISTENER.format(name="b"))
    assert registry.hooks().arrays_saved(path="p", names=[]) == [["b"]]
    assert state("acme-a")[0] == "broken"
    assert shown in state("acme-a")[1]
    assert state("acme-b") == ("ok", None)


def test_a_blocked_plugin_does_not_listen(site, set_environment):
    install(site, "acme-a", LISTENER.format(name="a"))
    set_environment(BLOCK="acme-a")
    assert registry.hooks().arrays_saved(path="p", names=[]) == []
