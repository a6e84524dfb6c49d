"""Processors for which kernels compile, whatever this one is."""

from __future__ import annotations

from operad_sdk.vector.machine import Machine

OTHERS = {
    "AVX2": Machine("x86_64-unknown-linux-gnu", "x86-64-v3", ""),
    "AVX-512": Machine("x86_64-unknown-linux-gnu", "x86-64-v4", ""),
    "ARM": Machine("aarch64-unknown-linux-gnu", "neoverse-n1", ""),
    "ARM with SVE": Machine("aarch64-unknown-linux-gnu", "neoverse-v1", ""),
}
