"""Group D: element types and devices."""

from __future__ import annotations

from typing import Final

from operad_check.catalogue.entry import Check

DTYPE: Final = (
    Check(
        "D601",
        "every element type that is accepted works, every other is refused with a DTypeError",
        "Type inference is a promise, as shape inference is. A kernel that then raises does so in the middle "
        "of a run.",
        '@unary("erf")    # accepts any type\ndef erf(data): return my_erf(data)    # and fails for int8',
        'Say accepts="floating", or infer_type; or list what is meant in Contract(dtypes=...).',
    ),
    Check(
        "D602",
        "outputs in each floating type are those of float64, within a tolerance",
        "Half and single precision lose digits; more than a few times what the inputs' own rounding costs is "
        "a mistake of the computation.",
        "variance = (data**2).mean() - data.mean()**2",
        'Rearrange the computation, compute half precision in single (compute_dtype="float32"), or declare '
        "Contract(tolerances=...).",
    ),
    Check(
        "D603",
        "gradients in each floating type are those of float64, within a tolerance",
        "As for outputs. An error of up to sixteen roundings may reach the other side of a kink on the way "
        "(relu of a normalized row); the slope there is right as well.",
        "@sigmoid.gradient\ndef _(output_grad, y): return output_grad * (y.astype('float16') - y * y)",
        "As for outputs.",
    ),
    Check(
        "D604",
        "float64 is computed in float64",
        "Numbers that pass through float32 on the way keep seven digits of sixteen; numeric gradients of "
        "networks that use the operator fail for no visible reason.",
        'def forward(data): return np.exp(data.astype("float32"))',
        "Compute in the type of the arrays: data.dtype, not a fixed one.",
    ),
    Check(
        "D605",
        "the GPU gives what the CPU gives, within a tolerance",
        "A network is trained on one and used on the other.",
        "def forward(data): return np.asarray([f(x) for x in data])    # NumPy's array, whatever data is",
        "Use op_ctx.xp, or write a kernel for the device that agrees with the other.",
    ),
    Check(
        "D606",
        "all kernels that apply give the same, within a tolerance",
        "Which kernel runs depends on shapes, types and what is installed; what an operator means does not.",
        '@smooth.kernel("cpu", priority=1)\ndef fast(data): return data / 2    # forgets sigma',
        "Correct the kernel that differs, or narrow its when= condition.",
    ),
    Check(
        "D607",
        "fractions are not cut off silently where arguments are whole numbers",
        "An integer output takes 0.5 as 0 without a word, if the assignment casts.",
        "def forward(data, output): output[...] = data * 0.5    # 1 becomes 0",
        'Accept floating types only (accepts="floating"), let infer_type give a floating output, or say '
        'that results are rounded towards zero: integers_as="float64".',
    ),
    Check(
        "D608",
        "narrow integer types give what int64 gives, wherever that fits",
        "An intermediate result that overflows wraps around, and the mean of 100 and 100 is -28.",
        "def forward(lhs, rhs): return (lhs + rhs) // 2    # in int8",
        "Compute in a wider type, and cast the result.",
    ),
    Check(
        "D609",
        "results have the types that the contract names",
        "Inference and the kernels share one function of types; where that is wrong, both are, and agree.",
        "contract = Contract(result_types=[ResultTypes({'bool': 'int64', 'float32': 'float32'})])\n"
        "def promote(self, dtype): return dtype    # bool too",
        "Correct promote() or infer_type(), or the table Contract(result_types=...), which names every type "
        "that is accepted.",
    ),
)
