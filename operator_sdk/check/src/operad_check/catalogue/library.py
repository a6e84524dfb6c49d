"""Group L: what only functions of a library with transformations can be asked."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

LIBRARY: Final = (
    Check(
        "L901",
        "compiled, a function gives what it gives when called",
        "A compiler replaces a function by others that are to be the same: decompositions, fused loops, fake "
        "kernels that infer shapes. A model that is compiled must not become another model.",
        '@register_fake("mine::scale")\ndef _(x): return x.new_empty(x.shape[0])    # and it gives x.shape',
        "Correct the decomposition or the fake kernel of the operator named.",
    ),
    Check(
        "L902",
        "derivatives forward and backward are transposes of each other",
        "Both are one matrix: the products u (J v) and (u J) v are the same number. Forward derivatives are "
        "written by hand beside the gradient, and tested less.",
        "@staticmethod\ndef jvp(ctx, dx): return dx * ctx.y    # and backward returns g * (1 - y * y)",
        "Compare both rules with the derivative; B301 says whether the backward one is right.",
    ),
    Check(
        "L903",
        "mapped over a batch, a function gives what it gives for each item",
        "A rule for batches moves the axis of the batch out of the way, and other axes with it.",
        "def vmap(info, in_dims, x): return softmax(x, 1), 0    # 1 is another axis with a batch",
        "Shift the axes that the rule names by that of the batch.",
    ),
    Check(
        "L905",
        "automatic casting leaves shapes alone, and gradients have the types of their arguments",
        "A function that mixes types raises only when somebody turns it on.",
        "torch.add(x @ w, b, out=b)    # the product is bfloat16, and b is not",
        "Cast what is mixed, or list the function among those that stay in float32.",
    ),
    Check(
        "L906",
        "with out= the result is the same, and is in the array that was given",
        "Code that keeps its memory calls functions so, and never sees the other result.",
        "def scale(x, out=None): return x * 2    # and leaves out as it was",
        "Fill the array and return it; refuse one of another type.",
    ),
    Check(
        "L907",
        "neither channels last nor gradients of the output that are expanded change anything",
        "A mean hands its gradient on as one number, repeated; images lie in memory by channels or by "
        "pixels. A kernel that walks through memory by itself reads what is not there.",
        "kernel(grad.data_ptr(), grad.numel())    # of a gradient that is one number",
        "Call contiguous() where a kernel wants a block, or pass strides to it.",
    ),
    Check(
        "L908",
        "results in the library's own narrow types are those of float64, within a tolerance",
        "NumPy has no bfloat16, so tests against it never see one. Sums in eight bits stop growing at 256.",
        "total = x.sum(dtype=torch.bfloat16)",
        "Compute in float32, and round the result.",
    ),
    Check(
        "L909",
        "gradients in the library's own narrow types are those of float64, within a tolerance",
        "As for results.",
        "return grad * (y.bfloat16() - y * y)",
        "As for results.",
    ),
    Check(
        "L910",
        "one thread and several give the same, within a tolerance",
        "Parts of an array are summed by several threads, and one of them may be left out.",
        "parallel_for(0, n, grain)    # with a total that all of them add to",
        "Give each thread a total of its own.",
    ),
)
