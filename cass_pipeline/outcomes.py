"""What can happen to one row in one stage: a closed list, shared by every stage.

This module imports nothing outside the standard library, so that `execute/` and `assembly/` run
on a GPU machine without the data packages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

EVIDENCE_CHARS = 2_000
"""Longest evidence kept with a row; the first error lines say what the rest repeats."""


class Outcome(StrEnum):
    """The state of a row after a stage."""

    KEPT = "kept"
    """Goes on to the next stage."""
    FILTERED = "filtered"
    """Done, with a reason: the same input would be filtered again."""
    FAILED = "failed"
    """Not done, with a reason: tried again by the next run."""


class Reason(StrEnum):
    """Why a row was not kept. `REASONS` has the outcome and the explanation of each."""

    # Collection: what a source could not turn into a unit.
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"
    PATH_ESCAPES = "path_escapes"
    INCLUDE_OUTSIDE_TREE = "include_outside_tree"
    CLOSURE_TOO_LARGE = "closure_too_large"
    ARCHIVE_LIMIT = "archive_limit"
    ARCHIVE_UNREADABLE = "archive_unreadable"
    NO_CUDA_FILES = "no_cuda_files"
    SOURCE_UNAVAILABLE = "source_unavailable"
    BLOB_MISSING = "blob_missing"
    BLOB_CORRUPT = "blob_corrupt"
    # Opt-outs: at collection, at selection and before publication.
    OPTED_OUT = "opted_out"
    OPT_OUT_WITHDRAWN = "opt_out_withdrawn"
    # Selection: what `raw_kernels` leaves out.
    NO_KERNEL = "no_kernel"
    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    GENERATED = "generated"
    LICENCE_UNKNOWN = "licence_unknown"
    LICENCE_NOT_PERMITTED = "licence_not_permitted"
    DUPLICATE_UNIT = "duplicate_unit"
    # Compilation, either side.
    MISSING_HEADER = "missing_header"
    COMPILE_ERROR = "compile_error"
    UNRESOLVED_SYMBOL = "unresolved_symbol"
    NO_DEVICE_CODE = "no_device_code"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    COMPILER_CRASH = "compiler_crash"
    STALLED = "stalled"
    # Pairing.
    CUDA_NOT_COMPILED = "cuda_not_compiled"
    HIP_NOT_COMPILED = "hip_not_compiled"
    NO_COMMON_KERNEL = "no_common_kernel"
    # Deduplication.
    EXACT_DUPLICATE = "exact_duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    # Training and evaluation.
    DUPLICATE_RECORD = "duplicate_record"
    HELD_OUT_ELSEWHERE = "held_out_elsewhere"
    TOO_MANY_TOKENS = "too_many_tokens"
    ANSWER_NOT_ENDED = "answer_not_ended"
    WRONG_KERNELS = "wrong_kernels"
    # Any stage: a fault of this package.
    INTERNAL_ERROR = "internal_error"

    @property
    def outcome(self) -> Outcome:
        """The outcome that this reason always has."""
        return REASONS[self].outcome

    @property
    def explanation(self) -> str:
        """One sentence for people, as printed in the ledger and in the documentation."""
        return REASONS[self].explanation


@dataclass(frozen=True)
class ReasonFacts:
    """What is fixed about a reason."""

    outcome: Outcome
    explanation: str


def _filtered(explanation: str) -> ReasonFacts:
    return ReasonFacts(Outcome.FILTERED, explanation)


def _failed(explanation: str) -> ReasonFacts:
    return ReasonFacts(Outcome.FAILED, explanation)


REASONS: dict[Reason, ReasonFacts] = {
    Reason.EMPTY: _filtered("The file holds nothing but white space."),
    Reason.TOO_LARGE: _filtered("The file is larger than the source's size limit."),
    Reason.UNDECODABLE: _filtered("The bytes are not text in UTF-8 or the declared encoding."),
    Reason.PATH_ESCAPES: _filtered("The path or link leads out of its own source tree."),
    Reason.INCLUDE_OUTSIDE_TREE: _filtered(
        "An #include names an absolute path or one above the tree."
    ),
    Reason.CLOSURE_TOO_LARGE: _filtered(
        "The file and the local headers it includes exceed the limits of one unit."
    ),
    Reason.ARCHIVE_LIMIT: _filtered("The archive unpacks to more than its limits allow."),
    Reason.ARCHIVE_UNREADABLE: _filtered("The archive is damaged or of an unknown kind."),
    Reason.NO_CUDA_FILES: _filtered("The source holds no .cu file."),
    Reason.SOURCE_UNAVAILABLE: _failed("The source could not be fetched this time."),
    Reason.BLOB_MISSING: _filtered("The archive does not hold the file's content (any more)."),
    Reason.BLOB_CORRUPT: _filtered("The archived content is damaged, or is not what was named."),
    Reason.OPTED_OUT: _filtered("Somebody asked that it not be used; its content was removed."),
    Reason.OPT_OUT_WITHDRAWN: _failed("The opt-out no longer holds; its source is read again."),
    Reason.NO_KERNEL: _filtered("No __global__ function is defined in the unit."),
    Reason.TOO_SHORT: _filtered("Fewer code lines than the selection asks for."),
    Reason.TOO_LONG: _filtered("More code lines than the selection allows."),
    Reason.GENERATED: _filtered("The file says that a program generated it."),
    Reason.LICENCE_UNKNOWN: _filtered("No licence was found for the file or its tree."),
    Reason.LICENCE_NOT_PERMITTED: _filtered("The licence is not on the list of permitted ones."),
    Reason.DUPLICATE_UNIT: _filtered("Another source brought exactly the same files."),
    Reason.MISSING_HEADER: _filtered("A header outside the unit is not installed."),
    Reason.COMPILE_ERROR: _filtered("The compiler rejected the source."),
    Reason.UNRESOLVED_SYMBOL: _filtered("The device code needs a symbol defined elsewhere."),
    Reason.NO_DEVICE_CODE: _filtered("It compiles, but to no kernel (uninstantiated templates)."),
    Reason.TIME_LIMIT: _filtered("The compiler used more CPU time than allowed."),
    Reason.MEMORY_LIMIT: _filtered("The compiler needed more memory than allowed."),
    Reason.OUTPUT_LIMIT: _filtered("The compiler wrote more than allowed."),
    Reason.COMPILER_CRASH: _filtered("The compiler crashed."),
    Reason.STALLED: _failed("No end within the wall-clock limit, though little CPU time was used."),
    Reason.CUDA_NOT_COMPILED: _filtered("The CUDA side did not compile, so there is no pair."),
    Reason.HIP_NOT_COMPILED: _filtered("The HIP side did not compile, so there is no pair."),
    Reason.NO_COMMON_KERNEL: _filtered("The two sides have no kernel in common."),
    Reason.EXACT_DUPLICATE: _filtered("Another pair has the same tokens on both sides."),
    Reason.NEAR_DUPLICATE: _filtered("Another pair of its cluster represents it."),
    Reason.DUPLICATE_RECORD: _filtered("Another training record has the same two texts."),
    Reason.HELD_OUT_ELSEWHERE: _filtered(
        "The same code is in a split that is held out from this one."
    ),
    Reason.TOO_MANY_TOKENS: _filtered("Question and answer are longer than the model reads."),
    Reason.ANSWER_NOT_ENDED: _filtered("The model's answer did not end within its token limit."),
    Reason.WRONG_KERNELS: _filtered("The answer compiles, but not to the kernels it should have."),
    Reason.INTERNAL_ERROR: _failed("A fault of this package; the evidence holds the traceback."),
}


def clip_evidence(text: str) -> str:
    """The start of `text`, at most `EVIDENCE_CHARS` characters, without NULs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").strip()[:EVIDENCE_CHARS]


@dataclass(frozen=True)
class Verdict:
    """Outcome, reason and evidence of one row in one stage."""

    outcome: Outcome
    reason: Reason | None = None
    evidence: str = ""

    @classmethod
    def kept(cls) -> Verdict:
        """The row goes on."""
        return cls(Outcome.KEPT)

    @classmethod
    def because(cls, reason: Reason, evidence: str = "") -> Verdict:
        """The row stops here, with the outcome that belongs to `reason`."""
        return cls(reason.outcome, reason, clip_evidence(evidence))
