"""Calls whose arguments HIP wants otherwise: kernels as addresses, defaults written out."""

from __future__ import annotations

from cass_pipeline.translate.interface import Severity
from cass_pipeline.translate.lexer import Kind
from cass_pipeline.translate.text import FileText, call_arguments

KERNEL_ARGUMENTS: dict[str, tuple[int, int]] = {
    "cudaFuncSetAttribute": (0, 3),
    "cudaFuncSetCacheConfig": (0, 2),
    "cudaFuncSetSharedMemConfig": (0, 2),
    "cudaFuncGetAttributes": (1, 2),
    "cudaLaunchKernel": (0, 6),
}
"""Position of the kernel among the arguments, and how many arguments there are.

CUDA has templates that take the kernel itself; HIP's headers have none for these.
"""

ADDED_ARGUMENTS: dict[tuple[str, int], tuple[int, str]] = {
    ("cudaStreamWaitEvent", 2): (1, ", 0"),
    ("cudaMemcpyToSymbolAsync", 3): (2, ", 0, hipMemcpyHostToDevice"),
    ("cudaMemcpyToSymbolAsync", 4): (3, ", hipMemcpyHostToDevice"),
    ("cudaMemcpyFromSymbolAsync", 3): (2, ", 0, hipMemcpyDeviceToHost"),
    ("cudaMemcpyFromSymbolAsync", 4): (3, ", hipMemcpyDeviceToHost"),
    ("cudaGraphInstantiate", 2): (1, ", nullptr, nullptr, 0"),
    ("cudaGraphInstantiate", 3): (1, ", nullptr, nullptr"),
}
"""Function and number of arguments: after which argument HIP wants more, and which.

CUDA has defaults for them, except for the graph: its signature lost two arguments in CUDA 12.
"""


def adapt_calls(file: FileText) -> None:
    """Casts kernels to `const void*` and writes out arguments that HIP has no default for."""
    for index, name in file.names():
        opening = file.after(index)
        if opening is None or file.text_at(opening) != "(":
            continue
        if name in KERNEL_ARGUMENTS:
            _cast_kernel(file, name, opening)
        elif any(function == name for function, _ in ADDED_ARGUMENTS):
            _add_arguments(file, name, opening)


def _cast_kernel(file: FileText, name: str, opening: int) -> None:
    """Wraps the kernel in a cast; commas of its template arguments may have split it."""
    position, count = KERNEL_ARGUMENTS[name]
    arguments = call_arguments(file, opening)
    if arguments is None or len(arguments) < count:
        return
    first = arguments[position][0]
    last = arguments[position + len(arguments) - count][1]
    if _is_address(file, first, last):
        return
    file.output[first] = "reinterpret_cast<const void*>(" + file.output[first]
    file.output[last] += ")"
    message = f"the kernel of {name} is passed as const void*"
    file.note(first, "kernel-cast", message, Severity.INFO)


def _is_address(file: FileText, first: int, last: int) -> bool:
    """Whether the argument is cast to an address already."""
    tokens = file.tokens[first : last + 1]
    return any(token.kind is Kind.NAME and token.text == "void" for token in tokens)


def _add_arguments(file: FileText, name: str, opening: int) -> None:
    arguments = call_arguments(file, opening)
    added = ADDED_ARGUMENTS.get((name, len(arguments or ())))
    if arguments and added:
        position, text = added
        file.output[arguments[position][1]] += text
        message = f"{name} of {len(arguments)} arguments gets '{text}'"
        file.note(opening, "added-argument", message, Severity.INFO)
