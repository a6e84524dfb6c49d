"""Group M: the memory contract."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

MEMORY: Final = (
    Check(
        "M401",
        "backward reads only what it declares",
        "Arrays that are not declared are recycled before the backward pass: they are gone, or hold "
        "something else.",
        "def declare_backward_dependency(self, out_grad, in_data, out_data):\n"
        "    return [out_grad[0]]    # and backward uses in_data[0]",
        "Declare the array, or compute without it. Gradients that name what they read declare it.",
    ),
    Check(
        "M402",
        "what backward declares to read, it reads",
        "A declared array is kept from the forward to the backward pass, for nothing: in a deep network that "
        "is most of the memory.",
        "@tanh.gradient\ndef _(output_grad, data, output): return output_grad * (1 - output**2)",
        "Leave it out of the declaration, or out of the gradient's parameters; a shape is also that of the "
        "gradient itself.",
    ),
    Check(
        "M403",
        "forward gives the same where declared pairs share memory",
        "A pair that is declared is used wherever the input is not needed any more: the result then "
        "overwrites what is still to be read.",
        '@operator("Centre")\nclass Centre:\n    inplace = "data -> output"\n'
        "    def forward(data, output):\n"
        "        output[...] = data.mean()\n        output[...] = data - output    # of the mean",
        "Read everything before the first write, or do not declare the pair.",
    ),
    Check(
        "M404",
        "backward gives the same where declared pairs share memory",
        "As for forward; with several gradients, the first one written overwrites what the next one reads.",
        '@gradient(inplace="output_grad -> lhs_grad")\n'
        "def backward(output_grad, lhs, rhs, lhs_grad, rhs_grad):\n"
        "    lhs_grad[...] = output_grad * rhs\n    rhs_grad[...] = output_grad * lhs",
        "Return all gradients, or compute all before the first is written; or do not declare the pair.",
    ),
    Check(
        "M405",
        "nothing outside the arrays is written, or matters",
        "Beside every array lie others. A kernel that runs over the end destroys them, and nobody will look "
        "for the fault there.",
        "for i in range(0, size, 8): store8(output + i, ...)    # size is no multiple of 8",
        "Bound every loop by the size of the array itself, the last block too.",
    ),
    Check(
        "M406",
        "nothing outside a temp space is written, and several spaces of one request are one memory",
        "Temp space is handed from operator to operator. Asking a resource twice gives the same memory "
        "twice.",
        "a = op_ctx.requested[0].get_space(shape, dtype)\n"
        "b = op_ctx.requested[0].get_space(shape, dtype)    # which is a",
        "Ask once and split the space, or request TEMP_SPACE twice.",
    ),
    Check(
        "M407",
        "results do not depend on what outputs and gradients held before",
        "Their memory is recycled: it holds anything, and something else the next time.",
        "def forward(data, output): np.maximum(output, data, out=output)    # output is not zero",
        "Write before reading: np.maximum(0, data, out=output).",
    ),
    Check(
        "M408",
        "results do not depend on what temp space held before, nor on what it holds after the call",
        "It is scratch: other operators use it between two calls.",
        "scratch = op_ctx.requested[0].get_space(shape, dtype)\nscratch += data    # += to what?",
        "Write it before reading it; what backward needs from forward is an output, hidden if need be.",
    ),
    Check(
        "M409",
        "one array may be several arguments, or one element repeated by strides of 0",
        "`op(x, x)` is an ordinary call, and a broadcast array has one element for all.",
        "def forward(lhs, rhs):\n    lhs -= lhs.mean()    # and rhs, if it is the same array\n"
        "    return lhs * rhs",
        "Change nothing that is read, and take strides as they are.",
    ),
    Check(
        "M410",
        "memory and calls grow no faster than the arrays, or the declared cost",
        "A temporary array of all pairs is harmless at ten elements, and ends the process at a million.",
        "def forward(data): return np.abs(data[:, None] - data[None, :]).min(1)    # n by n",
        "Compute block by block, or declare what it costs: cost(in_shapes, out_shapes).",
    ),
    Check(
        "M411",
        "memory does not grow with the number of calls",
        "What each call leaves, even a copy of what it was given, ends a training of a million steps.",
        "self.results[data.tobytes()] = np.tanh(data)    # one entry for each call",
        "Keep nothing from call to call, or no more than so many, by shape or by parameters.",
    ),
)
