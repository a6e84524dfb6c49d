"""Exchange with NumPy and, by DLPack, with anybody."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from operad import engine, nd
from operad.engine.budget import BlasLimits
from operad.errors import BindError

pytestmark = pytest.mark.usefixtures("operators")


def test_numpy_takes_arrays_as_values():
    x = nd.array([[1, 2], [3, 4]])
    assert np.asarray(x).tolist() == [[1, 2], [3, 4]]
    assert np.array(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(BindError, match="without a copy"):
        np.array(x, copy=False)


def test_a_strided_view_is_exported_as_it_lies():
    x = nd.array(np.arange(12).reshape(3, 4))
    np.testing.assert_array_equal(np.from_dlpack(x[::2, 1::2]), np.arange(12).reshape(3, 4)[::2, 1::2])
    np.testing.assert_array_equal(np.from_dlpack(x.T), np.arange(12).reshape(3, 4).T)


def test_export_waits_for_pending_operations():
    x = nd.array(np.full((400, 400), 0.5))
    for _ in range(5):
        nd.tanh(x, out=x)
    expected = np.full((400, 400), 0.5, np.float32)
    for _ in range(5):
        expected = np.tanh(expected)
    np.testing.assert_array_equal(np.from_dlpack(x), expected)


def test_who_takes_an_array_has_the_threads_of_blas(monkeypatch):
    x, restored = nd.array([1.0]), []
    monkeypatch.setattr(BlasLimits, "restore", lambda self: restored.append(self))
    np.from_dlpack(x)
    assert restored[-1:] == [engine.blas_limits]


def test_export_raises_what_failed():
    with pytest.raises(ZeroDivisionError):
        np.from_dlpack(nd.explode(nd.array([1.0])))


def test_memory_that_was_lent_is_lent_again():
    owner = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    ours = nd.from_dlpack(owner)
    theirs = np.from_dlpack(ours)
    again = nd.from_dlpack(theirs)
    assert np.shares_memory(theirs, owner)
    ours[0, 0] = 7
    assert owner[0, 0] == theirs[0, 0] == again.asnumpy()[0, 0] == 7
    del ours, theirs, owner
    assert again.asnumpy().tolist() == [[7, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("pool", ["0", "1"])
def test_exported_memory_stays_valid_after_the_array_is_gone(pool):
    # In debug mode, freed and fresh memory is poisoned, so a stale export would show.
    program = textwrap.dedent("""
        import numpy as np
        from operad import nd
        x = nd.array(np.arange(1000))
        exported = np.from_dlpack(x)
        part = exported[10:20]
        del x
        for _ in range(50):
            nd.empty(1000).wait_to_read()
        assert exported.tolist() == list(range(1000))
        del exported
        for _ in range(50):
            nd.empty(1000).wait_to_read()
        assert part.tolist() == list(range(10, 20))
    """)
    environment = {"OPERAD_DEBUG": "1", "OPERAD_POOL": pool, "PATH": "/usr/bin"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
