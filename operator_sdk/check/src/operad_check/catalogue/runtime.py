"""Group R: operators as engines and executors run them."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

RUNTIME: Final = (
    Check(
        "R501",
        "one property serves several shapes at once, one operator several sets of values",
        "A property belongs to a node, not to a shape: the same network runs with batches of two sizes, turn "
        "by turn. And operators are shared between nodes.",
        "def infer_shape(self, in_shapes):\n    self.rows = in_shapes[0][0]    # and forward uses self.rows",
        "Take shapes from the arrays, or keep them in the operator that create_operator makes for them.",
    ),
    Check(
        "R502",
        "two operators in two threads do not disturb each other",
        "The engine runs independent nodes at once. What they share must not be written: module variables, "
        "class attributes, caches.",
        "_scratch = np.empty(1 << 20)    # one for the whole module\ndef forward(data):\n"
        "    return np.exp(data, out=_scratch[:data.size])",
        "Use local arrays, or temp space from op_ctx.requested.",
    ),
    Check(
        "R503",
        "imperative, symbolic, naive and threaded runs give the same, bit for bit, in any order",
        "All of them are the same program. A result that depends on which one ran it cannot be debugged.",
        "def forward(self, op_ctx, in_data, req, out_data, aux):\n"
        "    if req[0] == OpReq.INPLACE: ...    # sums in another order",
        "Look for what differs between the two runs printed: requests, sharing, the order of calls.",
    ),
    Check(
        "R504",
        "an exception surfaces where the result is read, and names operator, node and plugin",
        "An operator that swallows an exception gives out what happened to be in memory.",
        "def forward(data, output):\n    try:\n        output[...] = solve(data)\n"
        "    except Exception:\n        pass",
        "Let exceptions pass; the engine brings them to the reader.",
    ),
    Check(
        "R506",
        "the process goes on: no crash, no exit, no hang",
        "Operators run inside somebody else's program. One that ends it, or never returns, takes along all "
        "that the program knew.",
        "def forward(data):\n    if not native.load():\n        os._exit(0)",
        "Look at the stack that is printed; raise an exception instead of leaving.",
    ),
    Check(
        "R507",
        "a run leaves the process as it was: error states, environment, directory, threads, NumPy",
        "Settings of a process belong to the program. One that is changed here changes results elsewhere.",
        'def forward(data):\n    np.seterr(all="ignore")\n    return np.log(data)',
        "Set it for the duration: with np.errstate(...); leave everything else alone.",
    ),
    Check(
        "R508",
        "arrays are let go after the pass that reads them",
        "An operator that keeps its arrays keeps the memory of a whole batch, as long as the model lives.",
        "def forward(self, data):\n    self.seen.append(data)    # for ever",
        "Keep what backward needs in an output, hidden if need be.",
    ),
    Check(
        "R509",
        "results do not depend on the hash seed of the process",
        "The order of a set of strings is another one in every process, and so is a sum in that order.",
        'for name in {"mean", "scale", "shift"}: total = total * 3 + values[name]',
        "Iterate over lists, tuples or sorted(...); never use hash() of a string.",
    ),
    Check(
        "R510",
        "values that a call gives to run-time parameters are those that are computed with, and looked at",
        "A call with another value makes no operator anew. What the constructor made of the first value, or "
        "refused, is there no more, and the call computes with the old one.",
        "def __init__(self, **params):\n    super().__init__(**params)\n"
        "    self.factor = 1 / self.temperature    # of the first call",
        "Compute it in forward, or define rebound(values), which makes and checks it again.",
    ),
)
