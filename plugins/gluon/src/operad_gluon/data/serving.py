"""Worker's side of `processes`: makes batches until its parent closes the channel, or has ended."""

from __future__ import annotations

import os
import pickle
import random
import signal
import traceback
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

import operad
from operad.errors import EngineError
from operad_gluon.data.channel import Channel
from operad_gluon.data.workers import Batchify, batch_of

_PATIENCE_S: Final = 5.0
"""Time after which a worker that waits looks whether its parent is still there."""


def serve(own: Channel, to_close: Sequence[Channel], dataset: Any, batchify: Batchify, number: int) -> None:
    """Make batches until the parent closes the channel; in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which then closes the channel
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for one in to_close:
        one.close()
    _seed(number)
    parent = os.getppid()
    while True:
        try:
            ticket, samples = own.receive(_PATIENCE_S)
        except TimeoutError:
            if os.getppid() != parent:
                return
            continue
        except (EOFError, ConnectionError):
            return
        try:
            _reply(own, ticket, dataset, batchify, samples)
        except (BrokenPipeError, ConnectionError):
            return


def _reply(own: Channel, ticket: int, dataset: Any, batchify: Batchify, samples: Sequence[Any]) -> None:
    try:
        reply: tuple[Any, ...] = (ticket, True, batch_of(dataset, batchify, samples))
        own.send(reply)
    except (BrokenPipeError, ConnectionError):
        raise
    except Exception as error:  # noqa: BLE001 - raised again in the parent
        own.send((ticket, False, (_sendable(error), traceback.format_exc())))


def _sendable(error: Exception) -> Exception:
    """The error, or one of operad's that has its text where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - what was just written
    except Exception:  # noqa: BLE001 - whatever its pickling raises
        return EngineError(f"DataLoader: a worker raised {type(error).__name__}: {error}")
    return error


def _seed(number: int) -> None:
    """Let this worker draw other numbers than the others, which begin with the same state."""
    words = np.random.get_state(legacy=False)["state"]["key"]
    seed = int(np.random.SeedSequence([*map(int, words[:8]), number]).generate_state(1)[0])
    np.random.seed(seed)
    random.seed(seed)
    operad.random.seed(seed)
