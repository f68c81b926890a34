"""Small columns of a published table: lengths, counts and flags, but no text.

Great Expectations works on pandas; converting gigabytes of assembly to it would take longer than
all checks together. The texts are read here, by polars, in a stream. No flag and no length is ever
null (a missing text has length 0), so that a check cannot pass over a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

_GENERATED = ("ptx", "cuda_host_asm", "hip_host_asm")
_LISTINGS = ("sass", "rdna3")


def project_pairs(paths: Sequence[Path], build_paths: Sequence[str] = ()) -> pl.DataFrame:
    """The columns that `cass_pipeline.corpus.suites.pair_suite` is about, one row a pair.

    Args:
        paths: Parquet files of unit-level pairs.
        build_paths: absolute paths of the build machine (temporary and home directories) that
            nothing generated may name. Source text is not searched: its authors may name any.
    """
    cuda_names, hip_names = _names("cuda_kernels"), _names("hip_kernels")
    common = pl.col("kernels").list.len().fill_null(0)
    return (
        pl.scan_parquet(list(paths))
        .select(
            "pair_id",
            "unit_id",
            "cluster_id",
            "source_name",
            "domain",
            "licence",
            licence_evidence=pl.col("licence_evidence").list.len().fill_null(0),
            level=_verification("level"),
            incomplete_match=_incomplete_match(),
            cuda_chars=_chars("cuda_source"),
            hip_chars=_chars("hip_source"),
            ptx_chars=_chars("ptx"),
            host_asm_chars=pl.min_horizontal(_chars("cuda_host_asm"), _chars("hip_host_asm")),
            sass_arches=_arches("sass"),
            rdna3_arches=_arches("rdna3"),
            sass_chars=_listing_chars("sass").list.sum().fill_null(0),
            rdna3_chars=_listing_chars("rdna3").list.sum().fill_null(0),
            empty_listings=pl.sum_horizontal(
                (_listing_chars(side).list.min() == 0).fill_null(False) for side in _LISTINGS
            ),
            common_kernels=common,
            kernels_differ=pl.any_horizontal(
                (names.list.len() != common).fill_null(True) for names in (cuda_names, hip_names)
            ),
            names_build_path=pl.any_horizontal(
                *(_names_any(pl.col(column), build_paths) for column in _GENERATED),
                *(_listings_name_any(side, build_paths) for side in _LISTINGS),
            ),
        )
        .collect(engine="streaming")
    )


def project_kernels(paths: Sequence[Path], build_paths: Sequence[str] = ()) -> pl.DataFrame:
    """The columns that `cass_pipeline.corpus.suites.kernel_suite` is about, one row a kernel.

    Args:
        paths: Parquet files of kernels.
        build_paths: as for `project_pairs`.
    """
    return (
        pl.scan_parquet(list(paths))
        .select(
            "pair_id",
            "cluster_id",
            "kernel",
            "demangled",
            "licence",
            "sm_arch",
            "gfx_arch",
            kernel_id=pl.concat_str(
                *(pl.col(name).fill_null("?") for name in ("pair_id", "kernel")),
                *(pl.col(name).fill_null("?") for name in ("sm_arch", "gfx_arch")),
                separator=" ",
            ),
            level=pl.col("verification_level"),
            sass_chars=_chars("sass"),
            rdna3_chars=_chars("rdna3"),
            cuda_instructions=_instructions("cuda_resources"),
            hip_instructions=_instructions("hip_resources"),
            names_build_path=pl.any_horizontal(
                _names_any(pl.col(side), build_paths) for side in _LISTINGS
            ),
        )
        .collect(engine="streaming")
    )


def _chars(column: str) -> pl.Expr:
    """Characters without those of blank ends."""
    return pl.col(column).str.strip_chars().str.len_chars().fill_null(0)


def _verification(field: str) -> pl.Expr:
    return pl.col("verification").struct.field(field)


def _incomplete_match() -> pl.Expr:
    """The level is `matched`, and something is missing that somebody would need to repeat it."""
    missing = pl.any_horizontal(
        _verification("cuda_device").is_null(),
        _verification("hip_device").is_null(),
        _verification("inputs").fill_null("") == "",
        _verification("seeds").list.len().fill_null(0) == 0,
        _verification("tolerance").is_null(),
    )
    return ((_verification("level") == "matched") & missing).fill_null(False)


def _arches(side: str) -> pl.Expr:
    arches = pl.col(side).list.eval(pl.element().struct.field("arch"))
    return arches.list.sort().list.join(",").fill_null("")


def _listing_chars(side: str) -> pl.Expr:
    listing = pl.element().struct.field("listing")
    return pl.col(side).list.eval(listing.str.strip_chars().str.len_chars().fill_null(0))


def _names(kernels: str) -> pl.Expr:
    return pl.col(kernels).list.eval(pl.element().struct.field("name")).list.unique()


def _instructions(resources: str) -> pl.Expr:
    return pl.col(resources).struct.field("instructions").fill_null(0)


def _names_any(text: pl.Expr, build_paths: Sequence[str]) -> pl.Expr:
    return text.str.contains_any(list(build_paths)).fill_null(False)


def _listings_name_any(side: str, build_paths: Sequence[str]) -> pl.Expr:
    listing = pl.element().struct.field("listing")
    return pl.col(side).list.eval(_names_any(listing, build_paths)).list.any().fill_null(False)
