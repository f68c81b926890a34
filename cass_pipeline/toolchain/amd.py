"""HIP to host assembly, RDNA3 assembly and code objects, with clang and lld.

The device side is compiled to assembly text, and that very text is assembled and linked to the
code object, so that listing and binary cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cass_pipeline.assembly import rdna3
from cass_pipeline.assembly.names import demangle
from cass_pipeline.errors import ToolchainError
from cass_pipeline.execute.sandbox import Runner
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.toolchain.interface import (
    Compilation,
    CompileResult,
    CompileSettings,
    DeviceCode,
    KernelResources,
    Vendor,
)
from cass_pipeline.toolchain.precompiled import Precompiled, PrecompiledHeaders
from cass_pipeline.toolchain.verdicts import sandbox_limits, verdict_of
from cass_pipeline.toolchain.workdir import StagedUnit, UnusableTreeError, staged
from cass_pipeline.units import SourceTree, digest_of

OVERLAY = Path(__file__).parent / "overlay" / "hip"
"""Our own headers, found before the ones they mend."""

BITCODE = "usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode"
"""Where the device libraries lie in the unpacked packages."""

_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_STALE_PCH = "has been modified since the precompiled header"


@dataclass(frozen=True)
class LocalClangToolchain:
    """The AMD side on this machine. `cass_pipeline.toolchain.local` finds the paths."""

    clang: Path
    """clang++."""
    linker: Path
    """ld.lld of the same version."""
    resources: Path
    """clang's resource folder, `.../lib/clang/19`."""
    hip: Path
    """Folder the HIP packages were unpacked into."""
    name_filter: Path
    """c++filt."""
    fingerprint: str
    sandbox: Runner
    precompiled: PrecompiledHeaders | None = None
    """Where precompiled headers are kept; None compiles without any."""
    temp_dir: Path | None = None

    @property
    def vendor(self) -> Vendor:
        """Always `amd`."""
        return "amd"

    def compile(self, tree: SourceTree, settings: CompileSettings) -> CompileResult:
        """See `Toolchain.compile`; `arches` are `gfx*`, the host is compiled once."""
        try:
            with staged(tree, ".hip", {}, self.temp_dir) as unit:
                return self._compile(tree, unit, settings)
        except UnusableTreeError as error:
            return CompileResult(Verdict.because(Reason.COMPILE_ERROR, str(error)))

    def _compile(
        self, tree: SourceTree, unit: StagedUnit, settings: CompileSettings
    ) -> CompileResult:
        device = []
        for arch in settings.arches:
            code = self._device_code(tree, unit, settings, arch)
            if isinstance(code, Verdict):
                return CompileResult(code)
            device.append(code)
        if not any(code.kernels for code in device):
            return CompileResult(Verdict.because(Reason.NO_DEVICE_CODE))
        side = ("--cuda-host-only", f"--offload-arch={settings.arches[0]}")
        if verdict := self._front_end(tree, unit, settings, side, "host.s"):
            return CompileResult(verdict)
        compilation = Compilation(
            device=tuple(device),
            host_asm=unit.read("host.s").decode("utf-8", "replace"),
            ptx=None,
            flags=compile_flags(settings),
        )
        return CompileResult(Verdict.kept(), compilation)

    def _device_code(
        self, tree: SourceTree, unit: StagedUnit, settings: CompileSettings, arch: str
    ) -> DeviceCode | Verdict:
        text, linked, code = (f"{arch}.{kind}" for kind in ("s", "o", "co"))
        side = ("--cuda-device-only", f"--offload-arch={arch}")
        assemble = (
            *(str(self.clang), "-x", "assembler", "-target", "amdgcn-amd-amdhsa"),
            *(f"-mcpu={arch}", "-c", "-o", unit.output(linked), unit.output(text)),
        )
        link = (
            *(str(self.linker), "-shared", "--no-undefined"),
            *("-o", unit.output(code), unit.output(linked)),
        )
        if verdict := (
            self._front_end(tree, unit, settings, side, text)
            or self._run(unit, settings, assemble)
            or self._run(unit, settings, link)
        ):
            return verdict
        listing = rdna3.normalise(unit.read(text).decode("utf-8", "replace"))
        kernels = kernel_resources(listing, self.name_filter)
        return DeviceCode(arch, unit.read(code), listing, kernels)

    def _front_end(
        self,
        tree: SourceTree,
        unit: StagedUnit,
        settings: CompileSettings,
        side: tuple[str, ...],
        output: str,
    ) -> Verdict | None:
        """Compiles one side to assembly text."""
        headers: tuple[str, ...] = ()
        if self.precompiled:
            key = digest_of(self.fingerprint, *compile_flags(settings), *side)
            file = self.precompiled.provide(
                tree, key, lambda source: self._precompile(settings, side, source)
            )
            if file:
                headers = ("-Xclang", "-include-pch", "-Xclang", str(file))
        includes = (part for path in unit.include_dirs for part in ("-I", path))
        command = (*self._command(settings, side), *headers, *includes)
        return self._run(unit, settings, (*command, "-S", "-o", unit.output(output), unit.main))

    def _precompile(
        self, settings: CompileSettings, side: tuple[str, ...], source: Path
    ) -> Precompiled:
        nothing = SourceTree({"empty.hip": ""}, "empty.hip")
        with staged(nothing, ".hip", {}, self.temp_dir) as unit:
            target = ("-Xclang", "-emit-pch", "-Xclang", "-o", "-Xclang", unit.output("pch"))
            rule = ("-fsyntax-only", "-MD", "-MF", unit.output("d"))
            command = (*self._command(settings, side), *rule, *target, str(source))
            if verdict := self._run(unit, settings, command):
                raise ToolchainError(f"the HIP headers do not compile: {verdict.evidence}")
            return Precompiled(unit.read("pch"), unit.read("d").decode("utf-8", "replace"))

    def _command(self, settings: CompileSettings, side: tuple[str, ...]) -> tuple[str, ...]:
        # Paths are absolute, as precompiled headers would not be found again otherwise, and are
        # mapped to names, so that artefacts do not say where the toolchain is.
        maps = (f"-ffile-prefix-map={path}/={name}/" for name, path in self._folders().items())
        flags = fixed_flags(**{name: str(path) for name, path in self._folders().items()})
        return (str(self.clang), *flags, *maps, *compile_flags(settings), *side)

    def _run(
        self, unit: StagedUnit, settings: CompileSettings, argv: tuple[str, ...]
    ) -> Verdict | None:
        shown = tuple(self._folders().values())
        if self.precompiled and self.precompiled.folder.is_dir():
            shown += (self.precompiled.folder,)
        done = self.sandbox.run(
            argv,
            work_dir=unit.folder,
            read_only=shown,
            env=_ENVIRONMENT,
            limits=sandbox_limits(settings.limits),
        )
        messages = unit.original_names((done.stderr + done.stdout).decode("utf-8", "replace"))
        for name, path in self._folders().items():
            messages = messages.replace(f"{path}/", f"{name}/")
        if done.returncode != 0 and _STALE_PCH in messages:
            raise ToolchainError("the toolchain was changed while it was in use: start again")
        return verdict_of(done, messages)

    def _folders(self) -> dict[str, Path]:
        """Toolchain folders by the names that artefacts and messages give them."""
        return {"clang": self.resources, "overlay": OVERLAY, "hip": self.hip}


def fixed_flags(*, clang: str, overlay: str, hip: str) -> tuple[str, ...]:
    """Flags that no setting changes: where headers are, and what makes artefacts reproducible.

    Args:
        clang: clang's resource folder.
        overlay: our headers.
        hip: folder the HIP packages were unpacked into.
    """
    return (
        *("-x", "hip", "-nogpuinc"),
        *("-isystem", f"{clang}/include/cuda_wrappers"),
        *("-include", "__clang_hip_runtime_wrapper.h"),
        *("-isystem", overlay, "-isystem", f"{hip}/usr/include"),
        f"--rocm-device-lib-path={hip}/{BITCODE}",
        # The symbol that identifies a translation unit hashes its path otherwise.
        *("-fuse-cuid=none", "-ffile-prefix-map=./src/="),
    )


def compile_flags(settings: CompileSettings) -> tuple[str, ...]:
    """clang's flags, without paths and targets: the ones that are recorded."""
    return (
        f"-std={settings.standard}",
        f"-{settings.optimisation}",
        *("-w", "-DNDEBUG", "-D__HIP_PLATFORM_AMD__"),
    )


def kernel_resources(listing: str, name_filter: Path) -> tuple[KernelResources, ...]:
    """Each kernel's resources, from the metadata that the runtime would read."""
    parsed = rdna3.parse(listing)
    functions = {function.name: function for function in parsed.functions}
    metadata = yaml.load(parsed.metadata, yaml.CSafeLoader) if parsed.metadata else {}
    entries: list[Mapping[str, Any]] = metadata.get("amdhsa.kernels") or []
    demangled = demangle([entry[".name"] for entry in entries], name_filter)
    return tuple(
        KernelResources(
            name=entry[".name"],
            demangled=demangled[entry[".name"]],
            registers=entry[".vgpr_count"],
            scalar_registers=entry[".sgpr_count"],
            shared_bytes=entry[".group_segment_fixed_size"],
            stack_bytes=entry[".private_segment_fixed_size"],
            spilled=entry[".vgpr_spill_count"] + entry[".sgpr_spill_count"],
            instructions=len(rdna3.instructions(functions[entry[".name"]].body)),
        )
        for entry in entries
    )
