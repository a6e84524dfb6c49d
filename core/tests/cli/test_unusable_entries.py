"""Entry points that cannot be used, in each group: listed with the reason, and an error where used."""

from __future__ import annotations

import os
import re

import pytest

import operad as od
from operad import registry
from operad.cli.doctor import trial
from operad.cli.doctor.metadata import GROUPS
from operad.errors import BrokenPluginError

in_a_process_of_its_own = trial.failed_plugins  # as it is before tests get a stand-in

FAULTS = {
    "module": ("acme_nowhere:thing", "No module named 'acme_nowhere'"),
    "raises": ("acme_raises:thing", "ValueError: bad day"),
    "attribute": ("acme_faulty:absent", "'acme_faulty:absent' does not exist"),
    "kind": ("acme_faulty:number", r"is of the wrong kind \(int\), expected a|implements none of the hooks"),
}
WITHOUT_A_KIND = "operad.attributes"
"""Any object may be named there, but None."""
NAMES = {"operad.kernels": "sound.thing", "operad.settings": "OPERAD_THING", WITHOUT_A_KIND: "nd.thing"}
MODULES = {
    "acme_raises": "raise ValueError('bad day')",
    "acme_faulty": "number = 7\nnothing = None",
}
LEFT_OUT = ("operad.kernels", "operad.hooks", "operad.passes", "operad.settings")
"""Groups of which everything is used wherever it applies, and programs run without what cannot be."""

CASES = [pytest.param(group, *FAULTS[fault], id=f"{group}-{fault}") for group in GROUPS for fault in FAULTS]
every_case = pytest.mark.parametrize(("group", "value", "reason"), CASES)


def entry_of(group: str, value: str) -> dict[str, dict[str, str]]:
    """Arguments of `Site.install`."""
    if group == WITHOUT_A_KIND:
        value = value.replace("number", "nothing")
    return {group.removeprefix("operad."): {NAMES.get(group, "thing"): value}}


def reason_of(group: str, reason: str) -> str:
    return reason.replace("int", "NoneType") if group == WITHOUT_A_KIND else reason


@pytest.fixture
def install(site):
    def add(group: str, value: str) -> None:
        site.install(
            "sound-ops",
            operators={"sound": "sound_ops:sound"},
            modules={"sound_ops": site.properties("sound")},
        )
        site.install("acme", **entry_of(group, value), modules=MODULES)
        registry.refresh()

    return add


@every_case
def test_it_is_listed_as_broken_with_its_reason(install, run_json, group, value, reason):
    install(group, value)
    (plugin,) = run_json("plugins", "--broken")["plugins"]
    (failure,) = plugin["failures"]
    assert (plugin["name"], plugin["state"], failure["group"]) == ("acme", "broken", group)
    assert failure["name"] == NAMES.get(group, "thing")
    assert re.search(reason_of(group, reason), failure["reason"])


@every_case
@pytest.mark.filterwarnings("ignore:left out")
def test_it_is_an_error_where_it_is_used_and_disturbs_nothing_else(install, run, group, value, reason):
    install(group, value)
    name = NAMES.get(group, "thing")
    if group == "operad.commands":
        assert re.search(reason, run(name).stderr)
    elif group not in LEFT_OUT:
        with pytest.raises(BrokenPluginError, match=reason_of(group, reason)):
            USES.get(group, lambda: registry.entry(group, name))()
    bound = od.sym.sound(od.sym.var("data"), name="sound")
    assert bound.infer_shape(data=(2, 3))[1] == [(2, 3)]
    assert od.graph.installed_passes() == {}
    assert registry.hooks().executor_bound(executor=None) == []
    assert registry.get("sound").kernels == []
    assert run("ops").exit_code == 0
    assert {p.name: p.state for p in registry.load_all()} == {"sound-ops": "ok", "acme": "broken"}


USES = {
    "operad.operators": lambda: od.nd.thing,
    "operad.attributes": lambda: od.nd.thing,
    "operad.namespaces": lambda: od.thing,
}


def test_the_doctor_lists_them_all_with_their_reasons(site, run_json, monkeypatch):
    """One process, in which each of them is tried."""
    for number, case in enumerate(CASES):
        group, value, _ = case.values
        site.install(f"acme-{number}", **entry_of(group, value))
    site.install("acme-undotted", kernels={"thing": "acme_faulty:number"})
    for module, source in MODULES.items():
        site.write(module, source)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site.folder), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr(trial, "failed_plugins", in_a_process_of_its_own)
    registry.refresh()

    found = run_json("doctor")

    texts = {f["about"]: f["text"] for f in found["findings"] if f["level"] == "error"}
    for number, case in enumerate(CASES):
        group, _, reason = case.values
        assert re.search(reason_of(group, reason), texts[f"acme-{number}"]), case.id
    assert "kernel 'thing': its name adds it to no operator" in texts["acme-undotted"]
    assert {p["state"] for p in found["plugins"] if p["name"].startswith("acme")} == {"broken"}
