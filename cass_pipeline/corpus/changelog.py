"""`CHANGELOG.md` and `removed_pairs.jsonl`: what each release has that the one before had not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date

from cass_pipeline.corpus.notices import one_line
from cass_pipeline.corpus.pair_index import Changes
from cass_pipeline.records import Row

CHANGELOG = "CHANGELOG.md"
REMOVED = "removed_pairs.jsonl"

Explain = Callable[[Sequence[Row], Sequence[Row]], Mapping[str, str]]
"""Gives, for removed and added rows of the index, the reason of each removal by `pair_id`."""

_HEAD = f"""# Changelog

Every release, newest first. `{REMOVED}` names each pair that ever left, when and why.
"""
_ENTRY = re.compile(r"^## (v\S+)$", re.MULTILINE)
_SOURCES_SHOWN = 20


def next_tag(today: date, taken: Collection[str]) -> str:
    """`v2026.12.05`; a second release on the same day is `v2026.12.05.1`, and so on."""
    first = f"v{today:%Y.%m.%d}"
    if first not in taken:
        return first
    return next(tag for n in range(1, len(taken) + 1) if (tag := f"{first}.{n}") not in taken)


def tags_of(changelog: str) -> list[str]:
    """The tags of all releases of a changelog, newest first."""
    return _ENTRY.findall(changelog)


def day(moment: date) -> str:
    """A date for people."""
    return f"{moment.day} {moment:%B %Y}"


def with_entry(changelog: str, entry: str) -> str:
    """A changelog with a new first entry; an empty one gets its head."""
    found = _ENTRY.search(changelog)
    older = changelog[found.start() :] if found else ""
    return "\n".join(filter(None, (_HEAD, entry, older)))


def entry_of(
    tag: str, today: date, version: str, changes: Changes, reasons: Mapping[str, str]
) -> str:
    """The entry of one release.

    Args:
        tag: the release's tag.
        today: its date.
        version: its version, which ends in a hash of its content.
        changes: against the release before.
        reasons: why pairs left, by `pair_id`.
    """
    counts = {
        "Pairs in the release before": changes.before,
        "Added": len(changes.added),
        "Removed": len(changes.removed),
        "Pairs in this release": changes.now,
        "Verified to another level than before": len(changes.relevelled),
        "Made anew by another translator or other compilers": len(changes.remade),
    }
    lines = [
        f"## {tag}",
        "",
        f"Released on {day(today)}; version {version}.",
        "",
        "| | |",
        "| --- | ---: |",
        *(f"| {name} | {count} |" for name, count in counts.items()),
    ]
    lines += _list("Added, by source:", (_source(row) for row in changes.added))
    lines += _list("Removed, by reason:", (reasons[row["pair_id"]] for row in changes.removed))
    levels = (f"now `{row['level']}`" for row in changes.relevelled)
    return "\n".join([*lines, *_list("Verified to another level:", levels), ""])


def with_removals(removed: str, tag: str, changes: Changes, reasons: Mapping[str, str]) -> str:
    """The lines of `removed_pairs.jsonl` with those of one more release.

    Ids alone: who asked to be removed must not be named for ever.
    """
    lines = (
        json.dumps(
            {
                "pair_id": row["pair_id"],
                "unit_id": row["unit_id"],
                "release": tag,
                "reason": reasons[row["pair_id"]],
            }
        )
        for row in changes.removed
    )
    return removed + "".join(f"{line}\n" for line in lines)


def _source(row: Row) -> str:
    return one_line(f"{row['source']} {row['source_name']}").replace("`", "'")


def _list(title: str, names: Iterable[str]) -> list[str]:
    counts = Counter(names).most_common()
    if not counts:
        return []
    lines = [f"- {name}: {count}" for name, count in counts[:_SOURCES_SHOWN]]
    rest = counts[_SOURCES_SHOWN:]
    if rest:
        lines.append(f"- {len(rest)} more: {sum(count for _, count in rest)}")
    return ["", title, "", *lines]
