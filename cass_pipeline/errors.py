"""Exceptions, named by what the caller should do next.

    CassError
    ├── InputError           the user's input is at fault: change the input
    ├── ConfigurationError   a setting is wrong: stop, change the setting
    └── InfrastructureError  the machine or a service is at fault: mend it, then retry
        ├── ToolchainError   a compiler or disassembler is missing or does not work
        ├── DeviceError      a device is missing or does not answer
        └── StoreError       the corpus store cannot be read or written

What happens to one sample (a file that does not compile, a kernel that differs) is never an
exception: it is an `Outcome` with a `Reason`, see `cass_pipeline.outcomes`.
"""


class CassError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(CassError):
    """The input named in the message cannot be used; the message says what would help."""


class ConfigurationError(CassError):
    """A setting is missing or contradictory; nothing was changed."""


class InfrastructureError(CassError):
    """The machine or a service failed; the same work may succeed later."""


class ToolchainError(InfrastructureError):
    """A compiler, disassembler or header package is missing or does not work."""


class DeviceError(InfrastructureError):
    """A device is missing, or failed in a way that says nothing about the program it ran."""


class StoreError(InfrastructureError):
    """The corpus store could not be read or written."""
