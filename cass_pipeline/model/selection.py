"""Which candidates become records, and in which split: no code is in two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cass_pipeline.model.candidates import Candidate
from cass_pipeline.model.splits import SPLITS, Shares, split_of
from cass_pipeline.outcomes import Reason, Verdict


@dataclass(frozen=True)
class Choice:
    """The split of a candidate, and whether it is used so far (its length is judged later)."""

    split: str
    verdict: Verdict


@dataclass(frozen=True)
class _Seen:
    record_id: str
    direction: str
    split: str
    texts: tuple[str, str]


def choose(candidates: Iterable[Candidate], shares: Shares) -> dict[str, Choice]:
    """The choice for each candidate, by record id.

    Clusters are of whole units; a kernel may still stand in two units that differ otherwise. What
    is in the test split is therefore left out of the others, and what is validated on is left
    out of the training split.
    """
    seen = [
        _Seen(
            candidate.record_id,
            candidate.direction.name,
            split_of(candidate.cluster_id, shares),
            candidate.texts,
        )
        for candidate in candidates
    ]
    texts: dict[str, set[str]] = {split: set() for split in SPLITS}
    for one in seen:
        texts[one.split].update(one.texts)
    taken: set[tuple[str, tuple[str, str]]] = set()
    choices: dict[str, Choice] = {}
    for one in seen:
        later = SPLITS[SPLITS.index(one.split) + 1 :]
        if holder := next((name for name in later if texts[name] & set(one.texts)), None):
            verdict = Verdict.because(Reason.HELD_OUT_ELSEWHERE, f"in the split {holder}")
        elif (one.direction, one.texts) in taken:
            verdict = Verdict.because(Reason.DUPLICATE_RECORD)
        else:
            taken.add((one.direction, one.texts))
            verdict = Verdict.kept()
        choices[one.record_id] = Choice(one.split, verdict)
    return choices


def shared_between_splits(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Values that stand in more than one split.

    Args:
        rows: pairs of a split and a value.
    """
    first: dict[str, str] = {}
    told: set[str] = set()
    for split, value in rows:
        if first.setdefault(value, split) != split and value not in told:
            told.add(value)
            yield value
