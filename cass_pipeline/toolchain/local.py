"""Finds the compilers of this machine and makes the two local toolchains from them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from cass_pipeline.errors import ToolchainError
from cass_pipeline.execute.sandbox import Runner, Sandbox
from cass_pipeline.toolchain import amd, nvidia
from cass_pipeline.toolchain.amd import LocalClangToolchain
from cass_pipeline.toolchain.fingerprint import fingerprint
from cass_pipeline.toolchain.install import (
    component_folder,
    cuda_folder,
    find_bwrap,
    require_system_tool,
)
from cass_pipeline.toolchain.interface import CompileSettings
from cass_pipeline.toolchain.nvidia import LocalNvccToolchain
from cass_pipeline.toolchain.precompiled import PrecompiledHeaders

ARTEFACT_FORMAT = "1"
"""Raise it when the same compiler output becomes another artefact: it is in every fingerprint."""

_LLVM_LIBRARY = re.compile(r"=> (\S*(?:LLVM|clang)\S*)")


def local_nvidia(
    cache: Path, *, sandbox: Runner | None = None, temp_dir: Path | None = None
) -> LocalNvccToolchain:
    """The NVIDIA toolchain of this machine.

    Args:
        cache: folder that `install` was run on.
        sandbox: runs the compilers; None for the strongest one that works here.
        temp_dir: where units are compiled; None for the system's temporary folder.

    Raises:
        ToolchainError: a part is missing; the message names the remedy.
    """
    cuda = cuda_folder()
    headers = component_folder(cache, "cuda-headers")
    gcc = require_system_tool("g++")
    parts = (cuda / "bin", cuda / "include", cuda / "nvvm", headers / "include", _cc1plus(gcc))
    flags = nvidia.compile_flags(CompileSettings(arches=("sm_80",)))
    texts = (ARTEFACT_FORMAT, *_host_versions(gcc), *flags, *nvidia.fixed_flags())
    return LocalNvccToolchain(
        cuda=cuda,
        headers=headers,
        host_compiler=gcc,
        name_filter=require_system_tool("c++filt"),
        fingerprint=fingerprint(parts, texts, cache),
        sandbox=sandbox or local_sandbox(cache),
        temp_dir=temp_dir,
    )


def local_amd(
    cache: Path, *, sandbox: Runner | None = None, temp_dir: Path | None = None
) -> LocalClangToolchain:
    """The AMD toolchain of this machine; arguments and errors as for `local_nvidia`."""
    clang = require_system_tool("clang++-19")
    linker = require_system_tool("ld.lld-19")
    resources = clang.resolve().parent.parent / "lib" / "clang" / "19"
    if not resources.is_dir():
        raise ToolchainError(f"{clang} has no resource folder {resources}: reinstall clang-19")
    hip = component_folder(cache, "hip")
    parts = (
        *(clang.resolve(), linker.resolve(), *_llvm_libraries(clang)),
        *(resources / "include", hip / "usr" / "include", hip / amd.BITCODE, amd.OVERLAY),
    )
    flags = amd.compile_flags(CompileSettings(arches=("gfx1100",)))
    # `-v` also names the GCC installation whose C++ library clang uses.
    versions = (_output(str(clang), "-v"), *_host_versions(require_system_tool("g++")))
    fixed = amd.fixed_flags(clang="clang", overlay="overlay", hip="hip")
    texts = (ARTEFACT_FORMAT, *versions, *flags, *fixed)
    return LocalClangToolchain(
        clang=clang,
        linker=linker,
        resources=resources,
        hip=hip,
        name_filter=require_system_tool("c++filt"),
        fingerprint=fingerprint(parts, texts, cache),
        sandbox=sandbox or local_sandbox(cache),
        precompiled=PrecompiledHeaders((cache / "precompiled").absolute()),
        temp_dir=temp_dir,
    )


def local_sandbox(cache: Path) -> Sandbox:
    """The strongest sandbox of this machine, with the bubblewrap of the cache if there is one."""
    return Sandbox.detect(find_bwrap(cache))


def _host_versions(gcc: Path) -> tuple[str, ...]:
    """What stands for the C and C++ standard headers: their packages' versions."""
    return _output(str(gcc), "--version").splitlines()[0], os.confstr("CS_GNU_LIBC_VERSION") or ""


def _cc1plus(gcc: Path) -> Path:
    return Path(_output(str(gcc), "-print-prog-name=cc1plus").strip())


def _llvm_libraries(program: Path) -> tuple[Path, ...]:
    """LLVM's shared libraries, which hold nearly all of the compiler."""
    found = _LLVM_LIBRARY.findall(_output("ldd", str(program)))
    return tuple(Path(path).resolve() for path in found)


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolchainError(f"{command[0]} does not work: {error}") from error
    return done.stdout + done.stderr
