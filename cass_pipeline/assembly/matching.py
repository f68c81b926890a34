"""Which kernel of the HIP side is which of the CUDA side, although their mangled names differ.

The two header sets define the same types under different names (CUDA's `struct float4` is HIP's
`HIP_vector_type<float, 4u>`), and the compilers name kernels of internal linkage in their own
ways. So kernels are matched by mangled name first, then by what their demangled names have in
common.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_VECTOR = re.compile(r"HIP_vector_type<([a-z ]+), ([1-4])u>")
_VECTOR_BASES = {
    "char": "char",
    "signed char": "char",
    "unsigned char": "uchar",
    "short": "short",
    "unsigned short": "ushort",
    "int": "int",
    "unsigned int": "uint",
    "long": "long",
    "unsigned long": "ulong",
    "long long": "longlong",
    "unsigned long long": "ulonglong",
    "float": "float",
    "double": "double",
}
"""Base of CUDA's vector type names, by element type (vector_types.h)."""

_SAME_TYPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b__nv_bfloat16(2?)\b|\b__hip_bfloat16(2?)\b|\bhip_bfloat16\b"), r"bfloat16\1\2"),
    (
        re.compile(r"\bcurandStateXORWOW\b|\b(?:roc|hip)rand_state_xorwow\b|\bhiprandState\b"),
        "xorwow",
    ),
    (re.compile(r"\bcurandStatePhilox4_32_10\b|\b(?:roc|hip)rand_state_philox4x32_10\b"), "philox"),
    # Inline namespaces of libraries, and names that a compiler makes for internal linkage.
    (re.compile(r"\b_INTERNAL_\w+::|\b__v1::|\b(?:THRUST|CUB)_\w+::|\b(?:hip)?cub::"), ""),
    (re.compile(r" \[clone [^\]]*\]|\.(?:static|intern)\.\w+"), ""),
    (re.compile(r"__(?:static|intern)__\w+"), ""),
)


@dataclass(frozen=True)
class KernelMatch:
    """One kernel on both sides, by mangled names."""

    cuda: str
    hip: str


def match_kernels(cuda: Mapping[str, str], hip: Mapping[str, str]) -> list[KernelMatch]:
    """The kernels that both sides have, sorted by their CUDA name.

    A kernel whose canonical name is not unique on its side is matched by mangled name or not at
    all: two wrong halves would be worse than no pair.

    Args:
        cuda: demangled name of each kernel of the CUDA side, by mangled name.
        hip: the same of the HIP side.
    """
    matches = {name: name for name in cuda if name in hip}
    left = _unique({name: text for name, text in hip.items() if name not in matches})
    for canonical, name in _unique(
        {name: text for name, text in cuda.items() if name not in matches}
    ).items():
        if canonical in left:
            matches[name] = left[canonical]
    return [KernelMatch(name, matches[name]) for name in sorted(matches)]


def canonical_name(demangled: str) -> str:
    """A demangled name with the types of both header sets under one name."""
    text = _VECTOR.sub(_vector, demangled)
    for pattern, replacement in _SAME_TYPES:
        text = pattern.sub(replacement, text)
    return text


def _vector(match: re.Match[str]) -> str:
    base = _VECTOR_BASES.get(match[1])
    return f"{base}{match[2]}" if base else match[0]


def _unique(names: Mapping[str, str]) -> dict[str, str]:
    """Mangled name by canonical name, without the canonical names that occur twice."""
    found: dict[str, list[str]] = {}
    for name, demangled in names.items():
        found.setdefault(canonical_name(demangled), []).append(name)
    return {canonical: group[0] for canonical, group in found.items() if len(group) == 1}
