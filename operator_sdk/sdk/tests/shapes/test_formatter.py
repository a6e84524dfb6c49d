from __future__ import annotations

from operad_sdk.shapes import describe, parse


def test_description_has_a_line_for_each_tensor():
    spec = parse("data:(N, D), arg[n]:any(N), b:(D) if not no_b; aux m:(D) -> output:(N), hidden mask:(N)")
    assert describe(spec).splitlines() == [
        "data: (N, D)",
        "arg0, arg1, ...: (N) of type any",
        "b: (D), only if not no_b",
        "m: auxiliary state, (D)",
        "output: output, (N)",
        "mask: hidden output, (N)",
    ]
