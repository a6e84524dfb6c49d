"""What `od.nd` has beside operators."""

from __future__ import annotations

import pytest

from operad import nd, storage
from operad.device import cpu
from operad.errors import OperadError

pytestmark = pytest.mark.usefixtures("operators")


def test_every_installed_operator_is_listed_beside_its_own_names():
    assert {"tanh", "Dense", "NDArray", "array", "empty"} <= set(dir(nd))


def test_a_name_that_nothing_provides_is_an_attribute_error():
    assert not hasattr(nd, "no_such_operator")


def test_memory_that_no_array_uses_goes_back_to_the_system():
    x = nd.empty((333, 77))
    x.wait_to_read()
    del x
    nd.waitall()
    nd.release_idle_memory()
    assert storage.get().stats(cpu()).pooled_bytes == 0


def test_a_context_is_refused_by_the_name_of_the_function():
    with pytest.raises(OperadError, match="release_idle_memory"):
        nd.release_idle_memory("cpu")
