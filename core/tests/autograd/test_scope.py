"""Recording and training mode nest."""

from __future__ import annotations

import pytest

from operad import autograd


def state():
    return autograd.is_recording(), autograd.is_training()


def test_scopes_set_and_restore_both():
    assert state() == (False, False)
    with autograd.record():
        assert state() == (True, True)
        with autograd.pause():
            assert state() == (False, False)
            with autograd.train_mode():
                assert state() == (False, True)
        with autograd.predict_mode():
            assert state() == (True, False)
            with autograd.record(train_mode=False):
                assert state() == (True, False)
            with autograd.pause(train_mode=True):
                assert state() == (False, True)
        assert state() == (True, True)
    assert state() == (False, False)


def test_scopes_restore_after_an_error():
    with pytest.raises(KeyError), autograd.record():
        raise KeyError
    assert state() == (False, False)


def test_one_scope_may_be_entered_again_inside_itself():
    scope = autograd.record()
    with scope:
        with autograd.pause(), scope:
            assert state() == (True, True)
        assert state() == (True, True)
    assert state() == (False, False)


def test_setters_return_what_was():
    assert autograd.set_recording(True) is False
    assert autograd.set_recording(False) is True
    assert autograd.set_training(True) is False
    assert autograd.set_training(False) is True
