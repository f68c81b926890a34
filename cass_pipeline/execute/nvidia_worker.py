"""The process that talks to the CUDA driver: one description or one launch, then it ends.

    python -m cass_pipeline.execute.nvidia_worker describe ORDINAL
    python -m cass_pipeline.execute.nvidia_worker launch ORDINAL LAUNCH.json RUN.json

What the kernel does wrong goes into the run; any other fault is the last line of stderr, with
exit code 1. Facts are from the CUDA driver API reference,
https://docs.nvidia.com/cuda/cuda-driver-api/.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cass_pipeline.errors import DeviceError
from cass_pipeline.execute.buffers import Array
from cass_pipeline.execute.launch import Argument, Launch, LaunchRun, LaunchStatus, Pointer, Scalar

GUARD_BYTES = 1 << 16
"""On each side of a buffer; a multiple of 256, so that buffers stay aligned as CUDA aligns."""
GUARD_VALUE = 0xA5

FREE_SHARED_BYTES = 48 << 10
"""Dynamic shared memory beyond this must be asked for."""

STATUS_OF: dict[str, LaunchStatus] = {
    "CUDA_ERROR_INVALID_VALUE": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_INVALID_IMAGE": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_INVALID_PTX": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_INVALID_SOURCE": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_NOT_FOUND": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_OUT_OF_MEMORY": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": LaunchStatus.LAUNCH_FAILED,
    "CUDA_ERROR_NO_BINARY_FOR_GPU": LaunchStatus.UNSUPPORTED,
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": LaunchStatus.UNSUPPORTED,
    "CUDA_ERROR_NOT_SUPPORTED": LaunchStatus.UNSUPPORTED,
    "CUDA_ERROR_ILLEGAL_ADDRESS": LaunchStatus.MEMORY_FAULT,
    "CUDA_ERROR_MISALIGNED_ADDRESS": LaunchStatus.MEMORY_FAULT,
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": LaunchStatus.MEMORY_FAULT,
    "CUDA_ERROR_LAUNCH_TIMEOUT": LaunchStatus.TIMEOUT,
    "CUDA_ERROR_ASSERT": LaunchStatus.CRASHED,
    "CUDA_ERROR_HARDWARE_STACK_ERROR": LaunchStatus.CRASHED,
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": LaunchStatus.CRASHED,
    "CUDA_ERROR_INVALID_PC": LaunchStatus.CRASHED,
    "CUDA_ERROR_LAUNCH_FAILED": LaunchStatus.CRASHED,
}
"""Driver errors that the launch caused. Any other is the device's fault."""


class CudaError(Exception):
    """A driver call failed; the argument is the CUresult's name."""

    def __init__(self, name: str, call: str) -> None:
        super().__init__(f"{call}: {name}")
        self.name = name


class Driver:
    """The driver API with exceptions for error codes, and one GPU's primary context."""

    def __init__(self, ordinal: int) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise DeviceError(
                "The package cuda-bindings is missing: pip install 'cass_pipeline[gpu]'"
            ) from error
        self._api = driver
        try:
            self("cuInit", 0)
            self._device = self("cuDeviceGet", ordinal)
        except (CudaError, OSError, RuntimeError) as error:
            raise DeviceError(
                f"NVIDIA GPU {ordinal} is not usable ({error}): check with nvidia-smi that the "
                "driver is installed and lists it"
            ) from error

    def __call__(self, call: str, *args: Any) -> Any:
        """Calls the function of that name; returns its one result, if it has any."""
        error, *results = getattr(self._api, call)(*args)
        if error != self._api.CUresult.CUDA_SUCCESS:
            raise CudaError(error.name, call)
        return results[0] if len(results) == 1 else results

    def describe(self) -> dict[str, str]:
        """Name, target and driver version."""
        attributes = self._api.CUdevice_attribute
        major, minor = (
            self("cuDeviceGetAttribute", attribute, self._device)
            for attribute in (
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        version = int(self("cuDriverGetVersion"))
        return {
            "name": self("cuDeviceGetName", 256, self._device).split(b"\0")[0].decode(),
            "arch": f"sm_{int(major)}{int(minor)}",
            "driver_version": f"{version // 1000}.{version % 1000 // 10}",
        }

    def open(self) -> None:
        """Makes the primary context current; waiting for a kernel then sleeps, not spins."""
        flag = int(self._api.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC)
        self("cuDevicePrimaryCtxSetFlags", self._device, flag)
        self("cuCtxSetCurrent", self("cuDevicePrimaryCtxRetain", self._device))

    def allow_shared(self, function: Any, size: int) -> None:
        """Lets a kernel have more dynamic shared memory than every kernel may."""
        attribute = self._api.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self("cuFuncSetAttribute", function, attribute, size)

    def parameter_sizes(self, function: Any) -> list[int]:
        """Bytes of each parameter of a kernel."""
        sizes: list[int] = []
        while True:
            try:
                _, size = self("cuFuncGetParamInfo", function, len(sizes))
            except CudaError as error:
                if error.name == "CUDA_ERROR_INVALID_VALUE":
                    return sizes
                raise
            sizes.append(int(size))


class GuardedBuffer:
    """A device buffer between guard bytes."""

    def __init__(self, driver: Driver, contents: Array) -> None:
        self._driver, self._contents = driver, contents
        size = contents.nbytes
        self._base = int(driver("cuMemAlloc", size + 2 * GUARD_BYTES))
        self.address = self._base + GUARD_BYTES
        driver("cuMemsetD8", self._base, GUARD_VALUE, size + 2 * GUARD_BYTES)
        if size:
            driver("cuMemcpyHtoD", self.address, contents.ctypes.data, size)

    def read(self) -> tuple[Array, str | None]:
        """What the buffer holds now, and where its guard bytes were written to."""
        size, held = self._contents.nbytes, self._contents
        whole = np.empty(size + 2 * GUARD_BYTES, np.uint8)
        self._driver("cuMemcpyDtoH", whole.ctypes.data, self._base, whole.nbytes)
        before, inside, after = np.split(whole, [GUARD_BYTES, GUARD_BYTES + size])
        damage = None
        if (below := np.flatnonzero(before != GUARD_VALUE)).size:
            damage = f"{GUARD_BYTES - int(below[-1])} bytes before its start"
        elif (above := np.flatnonzero(after != GUARD_VALUE)).size:
            damage = f"{int(above[0])} bytes past its end"
        return inside.view(held.dtype).reshape(held.shape), damage


def run_launch(driver: Driver, launch: Launch) -> LaunchRun:
    """Launches, and reports; raises DeviceError for what the launch cannot be blamed for."""
    try:
        return _run(driver, launch)
    except CudaError as error:
        if error.name not in STATUS_OF:
            raise DeviceError(f"The CUDA driver failed in {error}") from error
        return LaunchRun(STATUS_OF[error.name], str(error))


def _run(driver: Driver, launch: Launch) -> LaunchRun:
    # PTX is text that must end in NUL; a cubin knows its own length.
    code = ctypes.create_string_buffer(launch.code)
    module = driver("cuModuleLoadData", ctypes.addressof(code))
    function = driver("cuModuleGetFunction", module, launch.kernel.encode())
    if launch.shared_bytes > FREE_SHARED_BYTES:
        driver.allow_shared(function, launch.shared_bytes)
    buffers = {
        name: GuardedBuffer(driver, np.ascontiguousarray(contents.array()))
        for name, contents in launch.buffers.items()
    }
    addresses = {name: buffer.address for name, buffer in buffers.items()}
    values = [_to_bytes(argument, addresses) for argument in launch.args]
    sizes, wanted = [len(value) for value in values], driver.parameter_sizes(function)
    if sizes != wanted:
        # The driver would read past what is passed.
        message = f"the arguments have {sizes} bytes, the kernel takes {wanted}"
        return LaunchRun(LaunchStatus.LAUNCH_FAILED, message)
    symbols: dict[str, tuple[int, int]] = {}
    for name, value in launch.symbols.items():
        data = _to_bytes(value, addresses)
        address, size = driver("cuModuleGetGlobal", module, name.encode())
        if len(data) != int(size):
            message = f"{name} has {int(size)} bytes, its value {len(data)}"
            return LaunchRun(LaunchStatus.LAUNCH_FAILED, message)
        symbols[name] = int(address), len(data)
        driver("cuMemcpyHtoD", int(address), data, len(data))
    started, ended = driver("cuEventCreate", 0), driver("cuEventCreate", 0)
    held = [ctypes.create_string_buffer(value, len(value)) for value in values]
    pointers = (ctypes.c_void_p * max(1, len(held)))(*map(ctypes.addressof, held))
    driver("cuEventRecord", started, 0)
    driver(
        "cuLaunchKernel",
        function,
        *launch.grid,
        *launch.block,
        launch.shared_bytes,
        0,
        ctypes.addressof(pointers),
        0,
    )
    driver("cuEventRecord", ended, 0)
    driver("cuCtxSynchronize")
    after = {name: buffer.read() for name, buffer in buffers.items()}
    written = [f"buffer {name!r} was overrun {at}" for name, (_, at) in after.items() if at]
    return LaunchRun(
        LaunchStatus.MEMORY_FAULT if written else LaunchStatus.OK,
        "; ".join(written),
        outputs={name: array for name, (array, _) in after.items()},
        symbols={name: _read(driver, *place) for name, place in symbols.items()},
        wall_seconds=driver("cuEventElapsedTime", started, ended) / 1000,
    )


def _to_bytes(argument: Argument, addresses: dict[str, int]) -> bytes:
    """What the kernel receives, with device addresses filled in."""
    if isinstance(argument, Scalar):
        return argument.to_bytes()
    if isinstance(argument, Pointer):
        return (addresses[argument.buffer] + argument.offset).to_bytes(8, "little")
    data = bytearray(argument.data)
    for at, pointer in argument.pointers:
        data[at : at + 8] = _to_bytes(pointer, addresses)
    return bytes(data)


def _read(driver: Driver, address: int, size: int) -> bytes:
    data = np.empty(size, np.uint8)
    driver("cuMemcpyDtoH", data.ctypes.data, address, size)
    return data.tobytes()


def main(args: list[str]) -> None:
    """See the module's docstring."""
    action, ordinal, *paths = args
    try:
        driver = Driver(int(ordinal))
        if action == "describe":
            print(json.dumps(driver.describe()))
            return
        driver.open()
        run = run_launch(driver, Launch.from_json(Path(paths[0]).read_text()))
    except (CudaError, DeviceError) as error:
        sys.exit(str(error))
    Path(paths[1]).write_text(run.to_json())


if __name__ == "__main__":
    main(sys.argv[1:])
