from __future__ import annotations

import locale
import re
import sys
import threading
import warnings

import numpy as np
import pytest
import threadpoolctl

from operad import registry
from operad.errors import BrokenPluginError


def install(site, source: str, value: str = "faulty_acme:acme_one") -> None:
    """One faulty operator, and a sound one in another distribution."""
    site.install("acme-ops", operators={"acme_one": value}, modules={"faulty_acme": source})
    site.install(
        "sound-ops", operators={"sound": "sound_ops:sound"}, modules={"sound_ops": site.properties("sound")}
    )
    registry.refresh()


FAULTS = {
    "import": (
        "import no_such_module_anywhere",
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'",
    ),
    "value": ("raise ValueError('bad day')", "ValueError: bad day"),
    "exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def broken(:", "SyntaxError"),
    "base": ("class Strange(BaseException): pass\nraise Strange('odd')", "Strange: odd"),
}


@pytest.mark.parametrize(("source", "shown"), FAULTS.values(), ids=FAULTS.keys())
def test_whatever_an_import_raises_stays_inside_its_plugin(site, source, shown):
    install(site, source)
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    assert "operator 'acme_one' of acme-ops 1.0 cannot be used" in str(caught.value)
    assert shown in str(caught.value)
    assert registry.get("sound").name == "sound"
    assert {p.name: p.state for p in registry.plugins()} == {"acme-ops": "broken", "sound-ops": "ok"}


def test_the_error_carries_the_plugins_traceback_and_only_that(site):
    install(site, "def build():\n    return 1 / 0\n\nacme_one = build()\n")
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    text = str(caught.value)
    assert "return 1 / 0" in text
    assert "acme_one = build()" in text
    assert "importlib" not in text
    assert "loading.py" not in text
    assert "OPERAD_BLOCK=acme-ops" in text


def test_an_operator_that_is_developed_here_is_to_be_corrected_where_it_raised(site):
    install(site, "def build():\n    return 1 / 0\n\nacme_one = build()\n")
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    assert re.search(
        r"ZeroDivisionError.*; correct .*faulty_acme\.py:2, or set OPERAD_BLOCK", str(caught.value)
    )
    assert "uninstall" not in str(caught.value)


def test_a_wrong_declaration_shows_the_authors_frames_alone(site):
    source = "import operad\n\nacme_one = operad.Context('no such device', 0)\n"
    install(site, source)
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    files = re.findall(r'File "([^"]+)"', str(caught.value))
    assert files
    assert all("faulty_acme" in file for file in files)


def test_the_record_of_a_broken_plugin_holds_its_traceback(site):
    install(site, "raise ValueError('bad day')")
    (acme, _) = registry.load_all()
    assert acme.state == "broken"
    (broken,) = acme.broken
    assert broken.distribution == "acme-ops"
    assert broken.reason == "importing 'faulty_acme:acme_one' failed with ValueError: bad day"
    assert "line 1, in <module>" in broken.traceback


def test_an_interrupt_by_the_user_is_not_held_against_the_plugin(site):
    install(site, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        registry.get("acme_one")
    assert registry.plugins()[0].state == "ok"


def test_a_broken_module_is_not_run_again_until_refresh(site):
    source = "import sys\nsys.acme_runs = getattr(sys, 'acme_runs', 0) + 1\nraise ValueError"
    install(site, source)
    try:
        for _ in range(3):
            with pytest.raises(BrokenPluginError):
                registry.get("acme_one")
        assert sys.acme_runs == 1
    finally:
        del sys.acme_runs


def test_a_repaired_plugin_works_after_refresh(site):
    install(site, "raise ValueError")
    with pytest.raises(BrokenPluginError):
        registry.get("acme_one")
    site.write("faulty_acme", site.properties("acme_one"))
    registry.refresh()
    assert registry.get("acme_one").name == "acme_one"


def test_a_missing_attribute_names_the_entry_point_and_the_nearest_name(site):
    install(site, site.properties("acme_once"))
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    assert str(caught.value) == (
        "operator 'acme_one' of acme-ops 1.0 cannot be used: 'faulty_acme:acme_one' does not exist: "
        "faulty_acme has no attribute 'acme_one'; did its author mean 'acme_once'?; "
        "update or uninstall acme-ops, or set OPERAD_BLOCK=acme-ops"
    )


WRONG = {
    "function": ("def acme_one(x): return x", "function"),
    "class": ("class acme_one: pass", "class acme_one"),
    "none": ("acme_one = None", "NoneType"),
    "instance": (
        "class acme_one:\n    operad_property = 'no class'\nacme_one = acme_one()",
        "acme_one",
    ),
}


@pytest.mark.parametrize(("source", "kind"), WRONG.values(), ids=WRONG.keys())
def test_an_object_of_the_wrong_kind_is_refused_with_what_was_expected(site, source, kind):
    install(site, source)
    with pytest.raises(BrokenPluginError) as caught:
        registry.get("acme_one")
    assert f"is of the wrong kind ({kind}), expected an OperatorProperty subclass" in str(caught.value)


def test_an_operad_property_that_raises_stays_inside_its_plugin(site):
    install(
        site,
        "class Maker:\n"
        "    @property\n"
        "    def operad_property(self): raise OSError('no disk')\n"
        "acme_one = Maker()",
    )
    with pytest.raises(BrokenPluginError, match="no disk"):
        registry.get("acme_one")


@pytest.mark.parametrize("value", ["faulty-acme:acme_one", "faulty_acme acme_one", ":acme_one"])
def test_a_malformed_value_is_refused(site, value):
    install(site, "", value)
    with pytest.raises(BrokenPluginError, match="not of the form 'module:attribute'"):
        registry.get("acme_one")


def test_nested_attributes_and_extras_are_followed(site):
    install(
        site, "class Space:\n    acme_one = __import__('sound_ops').sound", "faulty_acme:Space.acme_one [x]"
    )
    assert registry.get("acme_one").name == "sound"


def test_threads_that_ask_at_once_get_one_class(site):
    install(site, f"import time\n{site.properties('acme_one')}")
    gate, got = threading.Barrier(8), []

    def ask() -> None:
        gate.wait()
        got.append(registry.get("acme_one"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len(set(got)) == 1


def test_a_plugin_may_use_operators_while_it_is_imported_even_from_another_thread(site):
    install(
        site,
        f"""
import threading
from operad import registry
other = threading.Thread(target=registry.get, args=("sound",), daemon=True)
other.start()
other.join(30)
assert not other.is_alive(), "deadlock"
{site.properties("acme_one")}
""",
    )
    assert registry.get("acme_one").name == "acme_one"


def test_an_import_leaves_the_threads_of_blas(site):
    def threads():
        pools = threadpoolctl.ThreadpoolController().select(user_api="blas")
        return [pool.num_threads for pool in pools.lib_controllers]

    before = threads()
    assert before
    greedy = f"import threadpoolctl\nthreadpoolctl.threadpool_limits({max(before) + 1})\n"
    site.install(
        "acme-ops",
        operators={"acme_one": "greedy_acme:acme_one"},
        modules={"greedy_acme": greedy + site.properties("acme_one")},
    )
    registry.refresh()
    assert registry.get("acme_one").name == "acme_one"
    assert threads() == before


CARELESS = "import locale, warnings, numpy\nnumpy.seterr(all='raise')\nwarnings.simplefilter('error')\n"


@pytest.mark.parametrize("end", ["", "raise ValueError('bad day')\n"], ids=["sound", "broken"])
def test_an_import_leaves_the_programs_error_state_warnings_and_locale(site, end):
    site.install(
        "acme-ops",
        operators={"acme_one": "careless_acme:acme_one"},
        modules={"careless_acme": CARELESS + "locale.setlocale(locale.LC_ALL, 'C')\n" + end},
    )
    registry.refresh()
    before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    settings = (np.geterr(), list(warnings.filters), "C.UTF-8")
    try:
        with pytest.raises(BrokenPluginError):  # sound, it has no such attribute
            registry.get("acme_one")
        assert (np.geterr(), list(warnings.filters), locale.setlocale(locale.LC_ALL)) == settings
    finally:
        locale.setlocale(locale.LC_ALL, before)


def test_a_half_imported_plugin_is_not_ready_yet_and_never_broken(site):
    """A finalizer, or the plugin itself, asks for what it provides before it is there."""
    install(
        site,
        f"""
from operad import errors, registry
try:
    registry.get("acme_one")
except errors.PluginNotReadyError as error:
    told = str(error)
{site.properties("acme_one")}
""",
    )
    assert registry.get("acme_one").name == "acme_one"
    assert "operator 'acme_one' of acme-ops 1.0 is being imported" in sys.modules["faulty_acme"].told
    assert {p.name: p.state for p in registry.plugins()} == {"acme-ops": "ok", "sound-ops": "ok"}


def test_what_a_plugin_saw_as_broken_in_a_circular_import_is_tried_again(site):
    site.install(
        "round-ops",
        operators={"one": "round_one:one", "two": "round_two:two"},
        modules={
            "round_one": f"""
from operad import errors, registry
try:
    registry.get("two")
except errors.BrokenPluginError as error:
    told = str(error)
{site.properties("one")}
""",
            "round_two": f"from round_one import one\n{site.properties('two')}",
        },
    )
    registry.refresh()
    assert registry.get("one").name == "one"
    assert "ImportError" in sys.modules["round_one"].told
    assert registry.get("two").name == "two"
