from __future__ import annotations

import numpy as np

from operad_kvstore.placement import Extent, Part, Placement

LARGE = 3_000_000


def placed(sizes: dict[str, int], may_cut: bool = True) -> Placement:
    placement = Placement(2)
    for key, size in sizes.items():
        placement.add(key, np.empty(size, np.float32), may_cut=may_cut)
    return placement


def test_a_key_goes_to_the_server_with_the_fewest_bytes() -> None:
    placement = placed({"a": 10, "b": 3, "c": 3, "d": 5})
    assert [placement.parts(key)[0].home for key in "abcd"] == [0, 1, 1, 1]


def test_a_large_key_has_a_part_on_every_server_unless_it_must_be_whole() -> None:
    half = LARGE // 2
    assert placed({"w": LARGE}).parts("w") == (Part(0, 0, half), Part(1, half, LARGE))
    assert placed({"w": LARGE}, may_cut=False).parts("w") == (Part(0, 0, LARGE),)


def test_parts_that_servers_gave_are_joined_in_order() -> None:
    placement = placed({"w": LARGE, "v": 2})
    values = np.arange(LARGE)
    of_home = {
        home: {"w": values[extent.start : extent.stop]}
        for home in (0, 1)
        for extent in placement.extents(home, ["w"]).values()
    }
    assert np.array_equal(placement.joined("w", of_home), values)
    assert placement.by_home(["w", "v"]) == {0: ["w", "v"], 1: ["w"]}


def test_gathered_keys_are_whole_and_spread_by_their_bytes() -> None:
    placement = placed({"w": LARGE, "v": LARGE, "u": 5})
    former = placement.gather()
    assert {key: len(parts) for key, parts in former.items()} == {"w": 2, "v": 2}
    homes = [placement.parts(key) for key in ("w", "v", "u")]
    assert homes == [(Part(1, 0, LARGE),), (Part(0, 0, LARGE),), (Part(0, 0, 5),)]
    assert placement.gather() == {}


def test_who_comes_back_adopts_what_the_servers_have() -> None:
    placement, adopted = placed({"w": LARGE, "v": 2}), Placement(2)
    for home in (0, 1):
        adopted.adopt(home, placement.described(home, placement.by_home(["w", "v"]).get(home, [])))
    for one in (placement, adopted):
        one.add("next", np.empty(1, np.float32), may_cut=True)
    for key in ("w", "v", "next"):
        assert adopted.parts(key) == placement.parts(key)


def test_an_extent_is_stored_flat_unless_it_is_all() -> None:
    assert Extent.of_all((2, 3)).stored_shape == (2, 3)
    assert Extent((2, 3), 2, 6).stored_shape == (4,)
    assert Extent.of_all(()).is_whole
