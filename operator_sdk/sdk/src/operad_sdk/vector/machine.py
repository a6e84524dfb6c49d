"""From text of LLVM to machine code, for this processor or another, kept on disk.

llvmlite does it (`operad-sdk[vector]`, which `operad-standard` brings along). Compiling takes milliseconds,
loading what a file holds 0.2 ms. A file is found by the hash of the text, of the processor and of LLVM's
version, so that of another processor is never found; `operad.files.cache` has the rule of such files.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, final

from operad.config import settings
from operad.errors import OperadError
from operad.files import cache as cache_files
from operad.first_use import first_use, import_module
from operad.locks import new_lock
from operad_sdk import cached_code
from operad_sdk.once import Once
from operad_sdk.vector.kept_processor import file_of_processor, keep, kept
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.settings import MODE
from operad_sdk.vector.writer import NAME


class Machine(NamedTuple):
    """A processor to compile for, in LLVM's words.

    Attributes:
        triple: Architecture, vendor and system.
        cpu: The model.
        features: What it has beyond that or lacks, `+avx2,-avx512f`.
    """

    triple: str
    cpu: str
    features: str

    @property
    def has_fma(self) -> bool:
        """True if one instruction computes a product and a sum with a single rounding."""
        return self.triple.startswith(("aarch64", "arm64")) or "+fma" in self.features.split(",")

    @property
    def has_scalef(self) -> bool:
        """True if one instruction of AVX-512 multiplies with a power of two."""
        return "+avx512f" in self.features.split(",")

    @property
    def vectors_held(self) -> int:
        """Number of vectors of 64 bytes that its registers hold together."""
        return 32 if "+avx512f" in self.features.split(",") else 8


@final
class Statistics:
    """Numbers of kernels that this process compiled, and that it found compiled."""

    compiled: int = 0
    loaded: int = 0


statistics: Final = Statistics()
_lock: Final = new_lock()
_addresses: Final[Once[tuple[str, str], int]] = Once()
_libraries: Final[list[Any]] = []  # which own the code
_symbols: Final[dict[str, int]] = {}  # those that any kernel may call, beside the C library's


@cache
def has_llvm() -> bool:
    """Return whether kernels can be compiled here, without importing llvmlite."""
    return find_spec("llvmlite") is not None


@cache
def _llvm() -> Any:
    if not has_llvm():
        raise NoVectorCodeError('llvmlite is not installed; pip install "operad-sdk[vector]"')
    found = import_module("llvmlite.binding")
    found.initialize_native_target()
    found.initialize_native_asmprinter()
    return found


@cache
def all_targets() -> Any:
    """The binding of LLVM, ready to compile for every processor that it knows."""
    llvm = _llvm()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


@cache
def host() -> Machine:
    """The processor of this process.

    Raises:
        NoVectorCodeError: llvmlite is not installed, or the processor has no fused multiply-add, without
            which results would differ from those of other machines.
    """
    found = first_use(_asked)
    if not found.has_fma:
        raise NoVectorCodeError(f"{found.cpu} has no fused multiply-add")
    return found


def _asked() -> Machine:
    path = file_of_processor() if has_llvm() else None
    if path is not None and (known := kept(path)) is not None:
        return Machine(*known)
    # LLVM's lock is held meanwhile. A fork waits for what runs by `first_use`; its child finds it free.
    llvm = _llvm()
    found = llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    if path is not None:
        keep(path, found)
    return Machine(*found)


def reason_against() -> str | None:
    """Reason why there is no vector code in this process, whatever the kernel; None if there is.

    Asked without importing llvmlite, but for the first time on a processor where it is installed.
    """
    return "OPERAD_VECTOR is off" if MODE.read() == "off" else _reason_of_host()


@cache
def _reason_of_host() -> str | None:
    try:
        host()
    except NoVectorCodeError as error:
        return str(error)
    return None


def object_code(text: str, machine: Machine) -> bytes:
    """Compile a module for a processor.

    Raises:
        OperadError: LLVM refuses the text, which is a fault of ours.
    """
    llvm = _llvm() if machine == host() else all_targets()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise OperadError(f"a kernel in vector code is no text of LLVM: {error}; please report it") from error
    module.triple = machine.triple
    target = llvm.Target.from_triple(machine.triple)
    compiler = target.create_target_machine(
        cpu=machine.cpu, features=machine.features, opt=2, reloc="default", codemodel="jitdefault"
    )
    found: bytes = compiler.emit_object(module)
    return found


def address_of(text: str, name: str) -> int:
    """Address of a function of a module in this process, compiled or found on disk.

    Raises:
        NoVectorCodeError: As for `host`.
    """
    machine = host()
    digest = _digest(text, machine)
    return _addresses.get((digest, name), _loaded_or_compiled, text, name, machine, digest)


def _loaded_or_compiled(text: str, name: str, machine: Machine, digest: str) -> int:
    path = settings().cache_dir / "kernels" / f"{digest}.o"
    code = cache_files.load(path)
    if code is None:
        code = object_code(text, machine)
        statistics.compiled += 1
        cached_code.save(path, code)
    else:
        statistics.loaded += 1
    return _loaded(code, name)


_SIGNATURE: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_longlong, ctypes.c_void_p
)


def loaded(text: str) -> Callable[[int, int, int, int], None]:
    """The kernel of a module, as `call(table, first, last, scratch)`; it runs without the interpreter's lock.

    Raises:
        NoVectorCodeError: As for `host`.
    """
    return function_at(address_of(text, NAME))


def function_at(address: int) -> Callable[[int, int, int, int], None]:
    """The kernel that begins at an address."""
    call: Callable[[int, int, int, int], None] = _SIGNATURE(address)
    return call


def define_symbol(text: str, name: str) -> None:
    """Compile a module whose function other modules may call by its name; no file has it."""
    _symbols[name] = _loaded(object_code(text, host()), name)


def _digest(text: str, machine: Machine) -> str:
    version = ".".join(map(str, _llvm().llvm_version_info))
    return hashlib.sha256("\0".join([version, *machine, text]).encode()).hexdigest()


@cache
def _linker() -> Any:
    llvm = _llvm()
    compiler = llvm.Target.from_triple(host().triple).create_target_machine(codemodel="jitdefault", jit=True)
    return llvm.create_lljit_compiler(compiler)


def _loaded(code: bytes, name: str) -> int:
    # A library for each kernel, whose symbol has the same name; an engine for each takes seven times as long.
    library = _llvm().JITLibraryBuilder().add_object_img(code).export_symbol(name).add_current_process()
    with _lock:
        for symbol in _symbols:
            library.import_symbol(symbol, _symbols[symbol])
        _libraries.append(library.link(_linker(), str(len(_libraries))))
        address: int = _libraries[-1][name]
    return address
