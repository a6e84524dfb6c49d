"""A real ipykernel whose cells loop, interrupted again and again; prints a JSON line per interrupt.

Each interrupt has to stop its cell with KeyboardInterrupt, and the next cell has to compute.
"""

from __future__ import annotations

import argparse
import json
import queue
import random
import sys
import time
from typing import Any, Final

from jupyter_client.manager import start_new_kernel

ANSWERS_IN_S: Final = 30.0
STARTS_IN_S: Final = 120.0

FIRST: Final = """
import operad as od, numpy as np
from operad import nd, autograd
x = nd.array(np.eye(8)); w = nd.array(np.eye(8)); w.attach_grad(); nd.tanh(x).asnumpy()
net = od.sym.SoftmaxOutput(od.sym.FullyConnected(od.sym.var("data"), num_hidden=4, name="fc"), name="softmax")
executor = net.simple_bind(od.cpu(), data=(5, 7))
"""

LOOPS: Final = {
    "tanh": "while True: nd.tanh(x)",
    "train": """
while True:
    with autograd.record(): y = nd.dot(x, w).sum()
    y.backward(); w[:] = w - 0.001 * w.grad""",
    "push": """
while True:
    for k in range(50): z = (x + 1.0) * 2.0
    z.wait_to_read()""",
    "step": """
while True:
    executor.forward(is_train=True); executor.backward(); executor.outputs[0].wait_to_read()""",
}

USE: Final = """
assert not autograd.is_recording()
assert ((nd.dot(nd.full((8, 8), 2.0), nd.full((8, 8), 2.0)) + 1).asnumpy() == 33).all()
assert (executor.forward()[0].asnumpy() > 0).all(); nd.tanh(x).asnumpy(); nd.waitall()
"""


class Kernel:
    """One kernel."""

    def __init__(self) -> None:
        self._manager, self._client = start_new_kernel(kernel_name="python3")

    def run(self, code: str, timeout_s: float = ANSWERS_IN_S) -> str:
        """Run a cell to its end: "ok", an error or "hang"."""
        return self._answer(self._client.execute(code), timeout_s)

    def interrupt(self, code: str, delay_s: float) -> str:
        """Run a cell that loops, and interrupt it some time after it has begun."""
        # Or ipykernel passes over what comes shortly behind a cell that failed.
        asked = self._client.execute(f"print('begun', flush=True)\n{code}", stop_on_error=False)
        while True:
            message = self._client.get_iopub_msg(timeout=ANSWERS_IN_S)
            if message["parent_header"].get("msg_id") == asked and message["msg_type"] == "stream":
                break
        time.sleep(delay_s)  # the moment is at random
        self._manager.interrupt_kernel()
        return self._answer(asked, ANSWERS_IN_S)

    def _answer(self, asked: str, timeout_s: float) -> str:
        while True:
            try:
                message = self._client.get_shell_msg(timeout=timeout_s)
            except queue.Empty:
                return "hang"
            if message["parent_header"].get("msg_id") == asked:
                return _described(message["content"])

    def end(self) -> None:
        """End it."""
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


def _described(content: dict[str, Any]) -> str:
    return "ok" if content["status"] == "ok" else f"{content.get('ename')}: {content.get('evalue', '')[:300]}"


def main() -> None:
    """Interrupt the cells of one loop, in one kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loop", choices=LOOPS)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    kernel = Kernel()
    try:
        if (ready := kernel.run(FIRST, STARTS_IN_S)) != "ok":
            raise SystemExit(ready)
        for _ in range(options.count):
            ended = kernel.interrupt(LOOPS[options.loop], moments.random() * 0.05)
            used = kernel.run(USE) if ended != "hang" else "hang"
            sys.stdout.write(json.dumps({"ended": ended, "used": used}) + "\n")
            sys.stdout.flush()
            if used == "hang":
                break
    finally:
        kernel.end()


if __name__ == "__main__":
    main()
