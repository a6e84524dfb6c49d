"""Every worker runs this: something fails in the middle of a training. Prints what each worker sees.

Usage: failures.py WHAT TYPE [MARK], where WHAT is one of the functions below, and MARK a file that a worker
makes before it kills itself, so that it does not when it was started again.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import operad as od
from tests.distributed.programs.killing import server_process, watch_messages

kv = od.kv.create(sys.argv[2])
rank, workers = kv.rank, kv.num_workers
last = workers - 1


def pulled(key: Any, size: int = 3) -> Any:
    out = od.nd.zeros(size)
    kv.pull(key, out=out)
    return out.asnumpy()


def lose_the_last() -> None:
    """Take one step, after which the last rank kills itself."""
    kv.init("w", od.nd.zeros(3))
    kv.pushpull("w", od.nd.ones(3))
    if rank == last:
        os.kill(os.getpid(), signal.SIGKILL)


def killed_worker() -> None:
    """The last rank kills itself; the others report the error."""
    lose_the_last()
    kv.push("w", od.nd.ones(3))
    try:
        pulled("w")
    except od.kv.WorkerLostError as error:
        print(f"lost {list(error.ranks)}: {error}", flush=True)


def shrunk() -> None:
    """The last rank kills itself; the others go on without it."""
    lose_the_last()
    for _ in range(3):
        kv.push("w", od.nd.ones(3))
        value = pulled("w")
    print("sum", value[0], flush=True)


def dies_once() -> None:
    """This worker kills itself, unless it was started again."""
    mark = Path(sys.argv[3])
    if not mark.exists():
        mark.touch()
        kv._courier.ask(lambda: None)  # what was pushed is on its way
        os.kill(os.getpid(), signal.SIGKILL)


def restarted() -> None:
    """The last rank kills itself between the keys of a step; it comes back, and all sums are exact."""
    sizes = {"a": 3, "large": 1_200_000, "z": 2}
    kv.init(list(sizes), [od.nd.zeros(size) for size in sizes.values()])
    kv.set_updater(lambda key, gradient, weight: weight.__iadd__(gradient))
    first = kv.resume()
    for step in range(first, 12):
        for key, size in sizes.items():
            if rank == last and (step, key) == (5, "z"):
                dies_once()
            kv.push(key, od.nd.ones(size) * (step + 1))
        expected = workers * (step + 1) * (step + 2) / 2
        for key, size in sizes.items():
            assert (pulled(key, size) == expected).all(), (step, key, pulled(key, size), expected)
    kv.barrier()
    print(f"exact from step {first} on", flush=True)


def rejoined() -> None:
    """The last rank kills itself, the others go on, and it comes back; a value is how many have pushed."""
    kv.init("w", od.nd.zeros(3))
    seen = [workers]
    while len(set(seen)) == 1 or seen[-1] != workers:
        if rank == last and len(seen) == 4:
            dies_once()
        kv.push("w", od.nd.ones(3))
        seen.append(int(pulled("w")[0]))
        if rank == last and Path(sys.argv[3]).exists():
            break
        time.sleep(0.01)
    print(f"rounds {sorted(set(seen))}, the last of {seen[-1]}", flush=True)


def pushed_in_vain() -> None:
    """This worker pushes and asks for the sum, and says who kept it waiting."""
    kv.push("w", od.nd.ones(3))
    try:
        pulled("w")
    except od.kv.StoreTimeoutError as error:
        print(f"timeout {list(error.ranks)}: {error}", flush=True)


def waited_in_vain() -> None:
    """The last rank kills itself, and nobody starts it again."""
    kv.init("w", od.nd.zeros(3))
    if rank == last:
        os.kill(os.getpid(), signal.SIGKILL)
    pushed_in_vain()


def silent_worker() -> None:
    """The last rank never pushes."""
    kv.init("w", od.nd.zeros(3))
    if rank == last:
        time.sleep(float(os.environ["OPERAD_KV_TIMEOUT_S"]) + 5)
        return
    pushed_in_vain()


def other_key() -> None:
    """The last rank pushes another key."""
    kv.init(["a", "b"], [od.nd.zeros(3), od.nd.zeros(3)])
    kv.push("b" if rank == last else "a", od.nd.ones(3))
    kv.barrier()


def other_call() -> None:
    """The last rank pushes, and the others call a barrier."""
    kv.init("a", od.nd.zeros(10_000))
    if rank == last:
        kv.push("a", od.nd.ones(10_000))
    kv.barrier()


def killed_server() -> None:
    """A server is killed after half of the steps, with the others under way; the values end up exact."""
    keys = [f"w{i}" for i in range(6)]
    size = 2000
    kv.init(keys, [od.nd.zeros(size) for _ in keys])
    kv.set_optimizer(od.optimizer.SGD(learning_rate=0.25, momentum=0.5))
    expected, momentum = np.zeros(size, np.float32), np.zeros(size, np.float32)
    outs = [od.nd.zeros(size) for _ in keys]
    for step in range(20):
        gradient = np.full(size, step % 3 - 1, np.float32)
        if rank == 0 and step in {7, 13}:
            os.kill(server_process(kv, step % len(kv._transport._links)), signal.SIGKILL)
        kv.pushpull(keys, [od.nd.array(gradient) for _ in keys], out=outs)
        momentum = momentum * np.float32(0.5) - np.float32(0.25) * gradient * workers
        expected = expected + momentum
        for out in outs:
            assert (out.asnumpy() == expected).all(), (step, out.asnumpy()[0], expected[0])
    print("exact", flush=True)


def killed_at_message() -> None:
    """The server is killed when rank 0 sends messages of given numbers; the values end up exact."""
    numbers = {int(word) for word in sys.argv[3:]}

    def kill(number: int) -> None:
        if rank == 0 and number in numbers:
            numbers.discard(number)
            os.kill(server_process(kv), signal.SIGKILL)

    watch_messages(kv, kill)
    kv.init("w", od.nd.zeros(3))
    kv.set_optimizer(od.optimizer.SGD(learning_rate=0.5, momentum=0.5))
    expected, momentum = 0.0, 0.0
    for step in range(12):
        kv.push("w", od.nd.ones(3) * (step % 3 - 1))
        momentum = momentum * 0.5 - 0.5 * (step % 3 - 1) * workers
        expected += momentum
        assert (pulled("w") == expected).all(), (step, pulled("w"), expected)
    kv.barrier()
    print(f"exact; not reached: {sorted(numbers) if rank == 0 else []}", flush=True)


def left_before_a_kill() -> None:
    """The last rank leaves after a barrier; the server is killed before rank 0 has heard of the barrier."""
    left = Path(sys.argv[3])
    kv.init("w", od.nd.zeros(3))
    kv.push("w", od.nd.ones(3))
    if rank == last:
        kv.barrier()
        kv.close()
        left.touch()
        return
    from operad_kvstore_ray.envelope import opened_answer
    from operad_kvstore_ray.link import _LOST as lost_answer  # noqa: N811 - a value here

    (link,) = kv._transport._links
    answer = link._answer

    def answer_lost(reference: Any) -> Any:
        found = answer(reference)
        has_come = isinstance(found, memoryview) and len(opened_answer(found)) == 3
        if has_come and not left.with_suffix(".killed").exists():
            while not left.exists():
                time.sleep(0.01)
            left.with_suffix(".killed").touch()
            os.kill(server_process(kv), signal.SIGKILL)
            return lost_answer
        return found

    kv._courier.ask(lambda: setattr(link, "_answer", answer_lost))
    kv.barrier()
    assert left.with_suffix(".killed").exists()
    assert (pulled("w") == workers).all()
    print("exact", flush=True)


def damaged_picture() -> None:
    """The server's picture is damaged, and the server is killed."""
    kv.init("w", od.nd.zeros(3))
    kv.pushpull("w", od.nd.ones(3))
    if rank == 0:
        (picture,) = Path(os.environ["OPERAD_KV_SNAPSHOTS"]).glob("*.picture")
        picture.write_text(sys.argv[3])
        print("damaged", picture, flush=True)
        os.kill(server_process(kv), signal.SIGKILL)
    try:
        while True:
            kv.pushpull("w", od.nd.ones(3))
    except od.kv.ServerLostError as error:
        print(f"server lost: {error}", flush=True)


def lost_server() -> None:
    """A server ends for good."""
    import ray

    kv.init("w", od.nd.zeros(3))
    kv.barrier()
    if rank == 0:
        ray.kill(kv._transport._links[0].server)
    try:
        while True:
            kv.push("w", od.nd.ones(3))
            pulled("w")
    except od.kv.ServerLostError as error:
        print(f"server lost: {error}"[:120], flush=True)


def interrupted() -> None:
    """Rank 0 waits for the others when Ctrl-C comes."""
    kv.init("w", od.nd.zeros(3))
    if rank == last:
        print("waiting", os.getpid(), flush=True)
        time.sleep(600)
    kv.push("w", od.nd.ones(3))
    pulled("w")


vars()[sys.argv[1]]()
