"""`cass compile`: one CUDA or HIP file to everything it compiles to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cass_pipeline.cli.inputs import read_tree
from cass_pipeline.cli.options import Cache, Json, open_console, print_json
from cass_pipeline.errors import ConfigurationError, InputError
from cass_pipeline.store import write_atomically
from cass_pipeline.toolchain.interface import Compilation, CompileSettings, Toolchain, Vendor

VENDORS: dict[str, Vendor] = {".cu": "nvidia", ".hip": "amd"}
"""Which side a file is, by its suffix."""
ARCHES: dict[Vendor, tuple[str, ...]] = {"nvidia": ("sm_80", "sm_90"), "amd": ("gfx1100",)}
LISTING_SUFFIX: dict[Vendor, str] = {"nvidia": "sass", "amd": "s"}
BINARY_SUFFIX: dict[Vendor, str] = {"nvidia": "cubin", "amd": "co"}

Arch = Annotated[
    list[str] | None,
    typer.Option("--arch", help="A target, e.g. sm_90 or gfx1100; can be repeated."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for listings, binaries, PTX and host assembly."),
]


def compile_file(
    file: Path, cache: Cache, arch: Arch = None, output: Output = None, json: Json = False
) -> None:
    """Compile a .cu file with nvcc or a .hip file with clang, and show what its kernels need.

    The exit code is 1 if the file does not compile; the first diagnostics are printed.
    """
    vendor = VENDORS.get(file.suffix)
    if vendor is None:
        raise ConfigurationError(f"{file}: give a file that ends in .cu (CUDA) or .hip (HIP)")
    tree = read_tree(file)
    settings = CompileSettings(arches=tuple(arch or ARCHES[vendor]))
    result = _toolchain(vendor, cache).compile(tree, settings)
    if result.compilation is None:
        reason = result.verdict.reason
        explanation = reason.explanation if reason else ""
        raise InputError(f"{file}: {explanation}\n{result.verdict.evidence}")
    written = _write(result.compilation, vendor, file.stem, output) if output else []
    if json:
        print_json(_as_json(result.compilation, written))
    else:
        _show(result.compilation, written)


def _toolchain(vendor: Vendor, cache: Path) -> Toolchain:
    from cass_pipeline.toolchain.local import local_amd, local_nvidia

    return local_nvidia(cache) if vendor == "nvidia" else local_amd(cache)


def _write(compilation: Compilation, vendor: Vendor, stem: str, folder: Path) -> list[Path]:
    files = {f"{stem}.host.s": compilation.host_asm.encode()}
    if compilation.ptx is not None:
        files[f"{stem}.ptx"] = compilation.ptx.encode()
    for code in compilation.device:
        files[f"{stem}.{code.arch}.{LISTING_SUFFIX[vendor]}"] = code.listing.encode()
        files[f"{stem}.{code.arch}.{BINARY_SUFFIX[vendor]}"] = code.binary
    for name, data in files.items():
        write_atomically(folder / name, data)
    return [folder / name for name in sorted(files)]


def _as_json(compilation: Compilation, written: list[Path]) -> dict[str, object]:
    return {
        "flags": list(compilation.flags),
        "kernels": [
            {"arch": code.arch, **asdict(kernel)}
            for code in compilation.device
            for kernel in code.kernels
        ],
        "written": [str(path) for path in written],
    }


def _show(compilation: Compilation, written: list[Path]) -> None:
    from rich.table import Table

    table = Table("target", "kernel", "registers", "scalar", "shared", "stack", "spilled", "insts")
    for code in compilation.device:
        for kernel in code.kernels:
            numbers = (
                kernel.registers,
                kernel.scalar_registers,
                kernel.shared_bytes,
                kernel.stack_bytes,
                kernel.spilled,
                kernel.instructions,
            )
            table.add_row(code.arch, kernel.demangled, *map(str, numbers))
    console = open_console()
    console.print(table)
    for path in written:
        console.print(f"wrote {path}")
