"""What must hold for a published table, as data: validated, and printed in the dataset card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cass_pipeline.corpus.levels import LEVELS

Severity = Literal["critical", "warning"]


@dataclass(frozen=True)
class Expectation:
    """One thing that must hold for one column of a projection."""

    column: str
    kind: str
    """Name of a class of `great_expectations.expectations`."""
    meaning: str
    """One sentence for people, as it stands in the report and in the dataset card."""
    severity: Severity = "critical"
    """A critical one stops a release; a warning is reported."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of that class."""


@dataclass(frozen=True)
class Suite:
    """All that is expected of one table."""

    name: str
    id_column: str
    """Column of the projection that names failing rows."""
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True)
class Bounds:
    """What a corpus was configured to hold."""

    licences: tuple[str, ...]
    """Permitted SPDX licence expressions."""
    sm_arches: tuple[str, ...]
    """NVIDIA targets that every pair has device code for, e.g. `("sm_80", "sm_90")`."""
    gfx_arches: tuple[str, ...]
    """AMD targets that every pair has device code for."""
    source_chars: tuple[int, int] = (40, 2_000_000)
    """Shortest and longest main file, in characters."""
    listing_chars: int = 50_000_000
    """Longest device assembly of one pair and side, all targets together, in characters."""


def pair_suite(bounds: Bounds) -> Suite:
    """What is expected of unit-level pairs, see `cass_pipeline.corpus.projection.project_pairs`."""
    return Suite(
        name="pairs",
        id_column="pair_id",
        expectations=(
            _unique("pair_id", "Every pair has an id of its own."),
            _present("pair_id", "Every pair has an id."),
            _present("unit_id", "Every pair names the unit it was made from."),
            _present("cluster_id", "Every pair names its cluster of near-duplicates."),
            _present("source_name", "Every pair says where its code comes from."),
            *_among("licence", bounds.licences, "The licence is one of the permitted ones."),
            _at_least("licence_evidence", 1, "The licence was read from a file or a tag."),
            *_among("level", tuple(LEVELS), "The verification level is a known one."),
            _no("incomplete_match", "A matched pair has devices, seeds, inputs and tolerance."),
            _between("cuda_chars", bounds.source_chars, "The CUDA main file has a sound length."),
            _between("hip_chars", bounds.source_chars, "The HIP main file has a sound length."),
            *_exactly("sass_arches", bounds.sm_arches, "SASS exists for every NVIDIA target."),
            *_exactly("rdna3_arches", bounds.gfx_arches, "RDNA3 exists for every AMD target."),
            _between("sass_chars", (1, bounds.listing_chars), "The SASS has a sound length."),
            _between("rdna3_chars", (1, bounds.listing_chars), "The RDNA3 has a sound length."),
            _between("empty_listings", (0, 0), "No listing is empty."),
            _at_least("common_kernels", 1, "Both sides have a kernel in common."),
            _no(
                "names_build_path", "Nothing that was generated names a path of the build machine."
            ),
            _at_least("host_asm_chars", 1, "Both sides have host assembly.", "warning"),
            _at_least("ptx_chars", 1, "The CUDA side has PTX.", "warning"),
            _no("kernels_differ", "Both sides have the same kernels.", "warning"),
            _present("domain", "Every pair has a domain label.", "warning"),
        ),
    )


def kernel_suite(bounds: Bounds) -> Suite:
    """What is expected of kernels, see `cass_pipeline.corpus.projection.project_kernels`."""
    listing = (1, bounds.listing_chars)
    return Suite(
        name="kernels",
        id_column="kernel_id",
        expectations=(
            _unique("kernel_id", "A kernel occurs once for a pair and its two targets."),
            _present("pair_id", "Every kernel names its pair."),
            _present("kernel", "Every kernel has a name."),
            _present("cluster_id", "Every kernel names its pair's cluster of near-duplicates."),
            *_among("licence", bounds.licences, "The licence is one of the permitted ones."),
            *_among("level", tuple(LEVELS), "The verification level is a known one."),
            *_among("sm_arch", bounds.sm_arches, "The NVIDIA target is a configured one."),
            *_among("gfx_arch", bounds.gfx_arches, "The AMD target is a configured one."),
            _between("sass_chars", listing, "The SASS of the kernel has a sound length."),
            _between("rdna3_chars", listing, "The RDNA3 of the kernel has a sound length."),
            _at_least("cuda_instructions", 1, "The CUDA side counts its instructions."),
            _at_least("hip_instructions", 1, "The HIP side counts its instructions."),
            _no("names_build_path", "No listing names a path of the build machine."),
            _present("demangled", "Every kernel has a readable name.", "warning"),
        ),
    )


def _unique(column: str, meaning: str) -> Expectation:
    return Expectation(column, "ExpectColumnValuesToBeUnique", meaning)


def _present(column: str, meaning: str, severity: Severity = "critical") -> Expectation:
    return Expectation(column, "ExpectColumnValuesToNotBeNull", meaning, severity)


def _among(column: str, values: tuple[str, ...], meaning: str) -> tuple[Expectation, ...]:
    """One of `values`; two expectations, because Great Expectations passes over nulls."""
    return (
        _present(column, meaning),
        Expectation(
            column, "ExpectColumnValuesToBeInSet", meaning, arguments={"value_set": list(values)}
        ),
    )


def _exactly(column: str, arches: tuple[str, ...], meaning: str) -> tuple[Expectation, ...]:
    """The sorted, comma-separated targets of a row are all of `arches`."""
    return _among(column, (",".join(sorted(arches)),), meaning)


def _between(column: str, limits: tuple[int, int], meaning: str) -> Expectation:
    arguments = {"min_value": limits[0], "max_value": limits[1]}
    return Expectation(column, "ExpectColumnValuesToBeBetween", meaning, arguments=arguments)


def _at_least(
    column: str, least: int, meaning: str, severity: Severity = "critical"
) -> Expectation:
    arguments = {"min_value": least}
    return Expectation(column, "ExpectColumnValuesToBeBetween", meaning, severity, arguments)


def _no(column: str, meaning: str, severity: Severity = "critical") -> Expectation:
    """A flag that is never set."""
    arguments = {"value_set": [False]}
    return Expectation(column, "ExpectColumnValuesToBeInSet", meaning, severity, arguments)
