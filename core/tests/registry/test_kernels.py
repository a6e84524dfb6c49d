from __future__ import annotations

import pytest

from operad import registry

KERNELS = """
from operad.op import Kernel
fast = Kernel("acme.fast", lambda *args: None, device="cpu", priority=5)
class Decorated:
    operad_kernel = Kernel("acme.carried", lambda *args: None)
carried = Decorated()
unfit = object()
"""


@pytest.fixture
def convolution(site):
    site.install(
        "acme-conv",
        operators={"Convolution": "kernel_conv:Convolution", "convolution": "kernel_conv:Convolution"},
        modules={"kernel_conv": site.properties("Convolution")},
    )
    return site


def names(operator: str) -> list[tuple[str, str | None]]:
    return [(kernel.name, kernel.distribution) for kernel in registry.get(operator).kernels]


def install_kernels(site, kernels: dict[str, str], source: str = KERNELS) -> None:
    site.install("acme-fast", kernels=kernels, modules={"kernel_fast": source})
    registry.refresh()


def test_kernels_of_other_distributions_join_an_operator_when_it_loads(convolution):
    install_kernels(
        convolution, {"Convolution.fast": "kernel_fast:fast", "Convolution.carried": "kernel_fast:carried"}
    )
    assert names("Convolution") == [("acme.carried", "acme-fast"), ("acme.fast", "acme-fast")]


def test_kernels_join_once_whatever_alias_they_and_the_user_name(convolution):
    install_kernels(convolution, {"convolution.fast": "kernel_fast:fast"})
    assert names("Convolution") == [("acme.fast", "acme-fast")]
    assert names("convolution") == [("acme.fast", "acme-fast")]


def test_kernels_for_other_operators_are_not_imported(convolution):
    install_kernels(
        convolution, {"Convolution3.fast": "kernel_fast:fast", "Pooling.fast": "kernel_fast:fast"}
    )
    assert names("Convolution") == []
    assert not convolution.is_imported("kernel_fast")


@pytest.mark.parametrize("source", ["raise ImportError('no compiler')", KERNELS])
def test_a_broken_kernel_is_left_out_and_shows_in_the_plugins_state(convolution, source):
    install_kernels(convolution, {"Convolution.unfit": "kernel_fast:unfit"}, source)
    assert names("Convolution") == []
    states = {p.name: p for p in registry.plugins()}
    assert states["acme-conv"].state == "ok"
    assert states["acme-fast"].state == "broken"
    assert "kernel 'Convolution.unfit'" in states["acme-fast"].reason


@pytest.mark.parametrize("name", ["Convolution", "Convolution.", ".fast", "fast"])
def test_a_kernel_whose_name_has_no_operator_and_a_dot_is_broken(convolution, name):
    install_kernels(convolution, {name: "kernel_fast:fast"})
    assert names("Convolution") == []
    (acme,) = [p for p in registry.load_all() if p.name == "acme-fast"]
    assert acme.state == "broken"
    assert "its name adds it to no operator, expected the operator's, a dot" in acme.reason


def test_a_blocked_kernel_is_left_out(convolution, set_environment):
    install_kernels(convolution, {"Convolution.fast": "kernel_fast:fast"})
    set_environment(BLOCK="acme-fast")
    assert names("Convolution") == []


def test_refresh_takes_kernels_back_and_adds_them_once(convolution):
    install_kernels(convolution, {"Convolution.fast": "kernel_fast:fast"})
    cls = registry.get("Convolution")
    registry.refresh()
    assert cls.kernels == []
    assert names("Convolution") == [("acme.fast", "acme-fast")]
    convolution.uninstall("acme-fast")
    registry.refresh()
    assert names("Convolution") == []
    assert registry.get("Convolution") is cls
