"""CUDA to host assembly, PTX, cubins and SASS, with nvcc from the NVIDIA wheels.

One nvcc run makes everything; one nvdisasm run a cubin makes its listing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cass_pipeline.assembly import sass
from cass_pipeline.assembly.host import without_embedded_code
from cass_pipeline.assembly.names import demangle
from cass_pipeline.execute.sandbox import Completed, Runner
from cass_pipeline.outcomes import Reason, Verdict
from cass_pipeline.toolchain.interface import (
    Compilation,
    CompileResult,
    CompileSettings,
    DeviceCode,
    KernelResources,
    Vendor,
)
from cass_pipeline.toolchain.ptxas import EntryResources, entry_resources
from cass_pipeline.toolchain.verdicts import sandbox_limits, verdict_of
from cass_pipeline.toolchain.workdir import StagedUnit, UnusableTreeError, staged
from cass_pipeline.units import SourceTree

_CUDA, _HEADERS = "cuda", "cuda-headers"
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True)
class LocalNvccToolchain:
    """The NVIDIA side on this machine. `cass_pipeline.toolchain.local` finds the paths."""

    cuda: Path
    """Folder with nvcc's `bin`, `include`, `lib` and `nvvm`."""
    headers: Path
    """Further headers: cuBLAS, cuRAND and so on."""
    host_compiler: Path
    """g++."""
    name_filter: Path
    """c++filt."""
    fingerprint: str
    sandbox: Runner
    temp_dir: Path | None = None

    @property
    def vendor(self) -> Vendor:
        """Always `nvidia`."""
        return "nvidia"

    def compile(self, tree: SourceTree, settings: CompileSettings) -> CompileResult:
        """See `Toolchain.compile`; `arches` are `sm_*`, PTX is made for the lowest of them."""
        links = {_CUDA: self.cuda, _HEADERS: self.headers}
        try:
            with staged(tree, ".cu", links, self.temp_dir) as unit:
                return self._compile(unit, settings)
        except UnusableTreeError as error:
            return CompileResult(Verdict.because(Reason.COMPILE_ERROR, str(error)))

    def _compile(self, unit: StagedUnit, settings: CompileSettings) -> CompileResult:
        flags = compile_flags(settings)
        done = self._run(unit, settings, *self._nvcc(unit), *flags)
        messages = unit.original_names((done.stderr + done.stdout).decode("utf-8", "replace"))
        if verdict := verdict_of(done, messages):
            return CompileResult(verdict)
        resources = entry_resources(messages)
        device = []
        for arch in settings.arches:
            code = self._device_code(unit, settings, arch, resources)
            if isinstance(code, Verdict):
                return CompileResult(code)
            device.append(code)
        if not any(code.kernels for code in device):
            return CompileResult(Verdict.because(Reason.NO_DEVICE_CODE))
        compilation = Compilation(
            device=tuple(device),
            host_asm=without_embedded_code(unit.read("host.s").decode("utf-8", "replace")),
            ptx=_artefact(unit, _virtual(_lowest(settings)), "ptx").decode("utf-8", "replace"),
            flags=flags,
        )
        return CompileResult(Verdict.kept(), compilation)

    def _nvcc(self, unit: StagedUnit) -> tuple[str, ...]:
        """The part of the command line that is not recorded."""
        return (
            f"./{_CUDA}/bin/nvcc",
            *("-ccbin", str(self.host_compiler)),
            *("-o", unit.output("host.s"), "--keep-dir", unit.output("")),
            *_FIXED_FLAGS,
            *(part for path in unit.include_dirs for part in ("-I", path)),
            unit.main,
        )

    def _run(
        self,
        unit: StagedUnit,
        settings: CompileSettings,
        *argv: str,
        prints_artefact: bool = False,
    ) -> Completed:
        return self.sandbox.run(
            argv,
            work_dir=unit.folder,
            read_only=(self.cuda, self.headers),
            env=_ENVIRONMENT,
            limits=sandbox_limits(settings.limits, prints_artefact=prints_artefact),
        )

    def _device_code(
        self,
        unit: StagedUnit,
        settings: CompileSettings,
        arch: str,
        resources: Mapping[tuple[str, str], EntryResources],
    ) -> DeviceCode | Verdict:
        cubin = _artefact(unit, arch, "cubin")
        (unit.folder / "out" / "disassembled.cubin").write_bytes(cubin)
        done = self._run(
            unit,
            settings,
            *(f"./{_CUDA}/bin/nvdisasm", "-c", unit.output("disassembled.cubin")),
            prints_artefact=True,
        )
        if verdict := verdict_of(done, done.stderr.decode("utf-8", "replace")):
            return verdict
        listing = sass.normalise(done.stdout.decode("utf-8", "replace"))
        functions = sass.split(listing)
        names = sass.kernels(listing)
        demangled = demangle(names, self.name_filter)
        kernels = tuple(
            _kernel(
                name,
                demangled[name],
                resources.get((arch, name), EntryResources()),
                len(sass.instructions(functions[name])),
            )
            for name in names
        )
        return DeviceCode(arch, cubin, listing, kernels)


_FIXED_FLAGS = (
    *("-c", "--keep", "-Xcompiler", "-S"),
    # Names of internal symbols hash a random number and the absolute path otherwise.
    *("--frandom-seed=0", "-Xcudafe", "--orig_src_path_name", "-Xcudafe", "/unit.cu"),
    *("-Xcompiler", "-ffile-prefix-map=./src/="),
    *("-isystem", f"./{_HEADERS}/include"),
)


def fixed_flags() -> tuple[str, ...]:
    """Flags that no setting changes: what to make, and what makes it reproducible."""
    return _FIXED_FLAGS


def compile_flags(settings: CompileSettings) -> tuple[str, ...]:
    """nvcc's flags, without paths: the ones that are recorded."""
    level = settings.optimisation
    lowest = _lowest(settings)
    codes = {
        arch: f"[{arch},{_virtual(arch)}]" if arch == lowest else arch for arch in settings.arches
    }
    return (
        f"-std={settings.standard}",
        f"-{level}",
        *("-Xptxas", f"-{level},-v"),
        *("-w", "-DNDEBUG", "--expt-relaxed-constexpr", "--extended-lambda"),
        *(
            part
            for arch, code in codes.items()
            for part in ("-gencode", f"arch={_virtual(arch)},code={code}")
        ),
    )


def _lowest(settings: CompileSettings) -> str:
    return min(settings.arches, key=lambda arch: int("".join(filter(str.isdigit, arch)) or 0))


def _virtual(arch: str) -> str:
    return arch.replace("sm_", "compute_")


def _artefact(unit: StagedUnit, target: str, kind: str) -> bytes:
    """What `--keep` left for one target: its name depends on how many targets there are."""
    folder = unit.folder / "out"
    names = (target, _virtual(target))
    found = (path for name in names for path in folder.glob(f"*{name}.{kind}"))
    return next(found, next(folder.glob(f"*.{kind}"))).read_bytes()


def _kernel(
    name: str, demangled: str, resources: EntryResources, instructions: int
) -> KernelResources:
    return KernelResources(
        name=name,
        demangled=demangled,
        registers=resources.registers,
        scalar_registers=0,
        shared_bytes=resources.shared_bytes,
        stack_bytes=resources.stack_bytes,
        spilled=resources.spill_store_bytes,
        instructions=instructions,
    )
