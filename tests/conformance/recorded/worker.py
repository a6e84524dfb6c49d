"""A worker process that may crash or hang without taking the recorder with it."""

from __future__ import annotations

import json
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from tests.conformance.recorded.outcome import Refusal

ROOT: Final = Path(__file__).parents[3]


class Worker:
    """Runs units in a process of its own, which is started again after a crash.

    Args:
        limit_s: Seconds a unit may take.
        python: The interpreter that has MXNet.
        module: What the process runs; see `mxnet_worker.main`.
        settings: Further variables of its environment.
    """

    def __init__(
        self,
        limit_s: float = 20.0,
        python: str = sys.executable,
        module: str = "tests.conformance.recorded.mxnet_worker",
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._limit_s = limit_s
        self._command = [python, "-m", module]
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, *unit: Any) -> Any:
        """The answer; a Refusal that is a fault if the process died or hung twice, the second time alone."""
        answer = self._ask(unit)
        if isinstance(answer, Refusal) and answer.is_fault:
            answer = self._ask(unit)
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _ask(self, unit: tuple[Any, ...]) -> Any:
        process = self._process = self._process or _start(self._command, self._settings)
        assert process.stdin is not None
        process.stdin.write(json.dumps(unit).encode() + b"\n")
        process.stdin.flush()
        try:
            (length,) = struct.unpack("<q", self._read(8))
            return pickle.loads(self._read(length))
        except TimeoutError:
            self.close()
            return Refusal(f"MXNet hangs (no answer within {self._limit_s:g} s)", is_fault=True)
        except EOFError:
            code = process.wait()
            self.close()
            name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            return Refusal(f"MXNet crashes ({name})", is_fault=True)

    def _read(self, count: int) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        deadline = time.monotonic() + self._limit_s + 20 * (count == 8)
        data = b""
        while len(data) < count:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            piece = os.read(pipe, count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


def _start(command: list[str], settings: Mapping[str, str]) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(ROOT),
        "MXNET_ENGINE_TYPE": "NaiveEngine",
        **settings,
    }
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
