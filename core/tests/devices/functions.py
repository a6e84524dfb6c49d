"""NumPy's functions, methods and draws that CuPy 13.6 offers, and the arguments that they take there.

Written down from CuPy itself. `names` compares them with a CuPy that is installed, and `make test-cupy`
with wheels of several versions, without a device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_UFUNCS: Final = """
abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_not bitwise_or
bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2
expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot
invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp
logaddexp2 logical_and logical_not logical_or logical_xor maximum minimum mod modf multiply negative
nextafter not_equal positive power rad2deg radians reciprocal remainder right_shift rint sign signbit
sin sinh sqrt square subtract tan tanh true_divide trunc
"""

_FUNCTIONS: Final = """
all: a axis out keepdims
allclose: a b rtol atol equal_nan
amax: a axis out keepdims
amin: a axis out keepdims
angle: z deg
any: a axis out keepdims
append: arr values axis
arange: start stop step dtype
argmax: a axis dtype out keepdims
argmin: a axis dtype out keepdims
argpartition: a kth axis
argsort: a axis kind
argwhere: a
around: a decimals out
array_equal: a1 a2 equal_nan
array_equiv: a1 a2
array_split: ary indices_or_sections axis
ascontiguousarray: a dtype
asfortranarray: a dtype
atleast_1d: *arys
atleast_2d: *arys
atleast_3d: *arys
average: a axis weights returned keepdims
bincount: x weights minlength
broadcast_arrays: *args
broadcast_to: array shape
choose: a choices out mode
clip: a a_min a_max out
column_stack: tup
compress: condition a axis out
concatenate: tup axis out dtype casting
convolve: a v mode
copy: a order
copyto: dst src casting where
corrcoef: a y rowvar bias ddof dtype
correlate: a v mode
count_nonzero: a axis
cov: a y rowvar bias ddof fweights aweights dtype
cross: a b axisa axisb axisc axis
cumprod: a axis dtype out
cumsum: a axis dtype out
delete: arr indices axis
diag: v k
diag_indices: n ndim
diag_indices_from: arr
diagflat: v k
diagonal: a offset axis1 axis2
diff: a n axis prepend append
digitize: x bins right
dot: a b out
dsplit: ary indices_or_sections
dstack: tup
ediff1d: arr to_end to_begin
einsum: *operands **kwargs
empty: shape dtype order
empty_like: prototype dtype order subok shape
expand_dims: a axis
extract: condition a
eye: N M k dtype order
flatnonzero: a
flip: a axis
fliplr: a
flipud: a
full: shape fill_value dtype order
full_like: a fill_value dtype order subok shape
gradient: f *varargs axis edge_order
hsplit: ary indices_or_sections
hstack: tup dtype casting
identity: n dtype
imag: val
indices: dimensions dtype
inner: a b
interp: x xp fp left right period
intersect1d: arr1 arr2 assume_unique return_indices
isclose: a b rtol atol equal_nan
iscomplex: x
iscomplexobj: x
isfortran: a
isin: element test_elements assume_unique invert
isneginf: x out
isposinf: x out
isreal: x
isrealobj: x
ix_: *args
kron: a b
lexsort: keys
linspace: start stop num endpoint retstep dtype axis
logspace: start stop num endpoint base dtype axis
max: a axis out keepdims
may_share_memory: a b max_work
mean: a axis dtype out keepdims
median: a axis out overwrite_input keepdims
meshgrid: *xi **kwargs
min: a axis out keepdims
moveaxis: a source destination
nan_to_num: x copy nan posinf neginf
nanargmax: a axis dtype out keepdims
nanargmin: a axis dtype out keepdims
nancumprod: a axis dtype out
nancumsum: a axis dtype out
nanmax: a axis out keepdims
nanmean: a axis dtype out keepdims
nanmedian: a axis out overwrite_input keepdims
nanmin: a axis out keepdims
nanprod: a axis dtype out keepdims
nanstd: a axis dtype out ddof keepdims
nansum: a axis dtype out keepdims
nanvar: a axis dtype out ddof keepdims
ndim: a
nonzero: a
ones: shape dtype order
ones_like: a dtype order subok shape
outer: a b out
packbits: a axis bitorder
pad: array pad_width mode **kwargs
partition: a kth axis
percentile: a q axis out overwrite_input method keepdims interpolation
prod: a axis dtype out keepdims
put: a ind v mode
quantile: a q axis out overwrite_input method keepdims interpolation
ravel: a order
ravel_multi_index: multi_index dims mode order
real: val
real_if_close: a tol
repeat: a repeats axis
reshape: a newshape order
roll: a shift axis
rollaxis: a axis start
rot90: a k axes
round: a decimals out
searchsorted: a v side sorter
select: condlist choicelist default
setdiff1d: ar1 ar2 assume_unique
setxor1d: ar1 ar2 assume_unique
shape: a
shares_memory: a b max_work
sort: a axis kind
sort_complex: a
split: ary indices_or_sections axis
squeeze: a axis
stack: tup axis out dtype casting
std: a axis dtype out ddof keepdims
sum: a axis dtype out keepdims
swapaxes: a axis1 axis2
take: a indices axis out
take_along_axis: a indices axis
tensordot: a b axes
tile: A reps
trace: a offset axis1 axis2 dtype out
transpose: a axes
tri: N M k dtype
tril: m k
tril_indices: n k m
tril_indices_from: arr k
triu: m k
triu_indices: n k m
triu_indices_from: arr k
union1d: arr1 arr2
unique: ar return_index return_inverse return_counts axis equal_nan
unpackbits: a axis bitorder
unravel_index: indices dims order
var: a axis dtype out ddof keepdims
vdot: a b
vsplit: ary indices_or_sections
vstack: tup dtype casting
where: condition x y
zeros: shape dtype order
zeros_like: a dtype order subok shape
fft.fft: a n axis norm
fft.ifft: a n axis norm
linalg.cholesky: a
linalg.det: a
linalg.eigh: a UPLO
linalg.eigvalsh: a UPLO
linalg.inv: a
linalg.lstsq: a b rcond
linalg.matrix_power: M n
linalg.matrix_rank: M tol
linalg.norm: x ord axis keepdims
linalg.pinv: a rcond
linalg.qr: a mode
linalg.slogdet: a
linalg.solve: a b
linalg.svd: a full_matrices compute_uv
linalg.tensorinv: a ind
linalg.tensorsolve: a b axes
lib.stride_tricks.as_strided: x shape strides
lib.stride_tricks.sliding_window_view: x window_shape axis subok writeable
"""

_METHODS: Final = """
all: axis out keepdims
any: axis out keepdims
argmax: axis out dtype keepdims
argmin: axis out dtype keepdims
argpartition: kth axis
argsort: axis
astype: dtype order casting subok copy
choose: choices out mode
clip: min max out
compress: condition axis out
conj:
copy: order
cumprod: axis dtype out
cumsum: axis dtype out
diagonal: offset axis1 axis2
dot: b out
fill: value
flatten: order
get: stream order out blocking
item:
max: axis out keepdims
mean: axis dtype out keepdims
min: axis out keepdims
nonzero:
partition: kth axis
prod: axis dtype out keepdims
put: indices values mode
ravel: order
repeat: repeats axis
reshape: *shape order
round: decimals out
searchsorted: v side sorter
set: arr stream
sort: axis
squeeze: axis
std: axis dtype out ddof keepdims
sum: axis dtype out keepdims
swapaxes: axis1 axis2
take: indices axis out
tobytes: order
tolist:
trace: offset axis1 axis2 dtype out
transpose: *axes
var: axis dtype out ddof keepdims
view: dtype type
"""

_DRAWS: Final = """
beta: a b size dtype
binomial: n p size
chisquare: df size
dirichlet: alpha size
exponential: scale size
f: dfnum dfden size
gamma: shape scale size
geometric: p size
hypergeometric: ngood nbad nsample size
integers: low high size dtype endpoint
logseries: p size
poisson: lam size
power: a size
random: size dtype out
standard_exponential: size dtype method out
standard_gamma: shape size dtype out
standard_normal: size dtype out
uniform: low high size dtype
"""

UFUNCS: Final = tuple(_UFUNCS.split())
"""They take `out`, `dtype` and `casting`, and nothing else by name."""


def _table(text: str) -> Mapping[str, tuple[str, ...]]:
    rows = (line.partition(":") for line in text.split("\n") if line)
    return {name: tuple(parameters.split()) for name, _, parameters in rows}


FUNCTIONS: Final = _table(_FUNCTIONS)
"""The names of the arguments by function; one star before the rest by position, two before that by name."""

METHODS: Final = _table(_METHODS)
"""The same of `cupy.ndarray`'s methods, without the array."""

DRAWS: Final = _table(_DRAWS)
"""The same of `cupy.random.Generator`."""
