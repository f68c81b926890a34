"""`NOTICE` and `LICENSES`: whose code a release holds, and under which terms."""

from __future__ import annotations

import re

from cass_pipeline.corpus.facts import Facts, SourceUse

# Words of an SPDX expression that are not licence identifiers (SPDX 2.3, annex D).
_OPERATORS = frozenset({"AND", "OR", "WITH"})


def notice(title: str, facts: Facts) -> str:
    """One paragraph for each source: name, revision, licence, and every file that was used.

    Args:
        title: name of the dataset.
        facts: of the released pairs.
    """
    head = (
        f"{title}\n\n"
        "This dataset holds code of the sources below, as it was found, and code that was made\n"
        "from it: HIP translations, PTX and assembly. Each stays under the licence of its source.\n"
    )
    return "\n".join([head, *map(_paragraph, facts.sources)])


def licences(facts: Facts) -> str:
    """Each licence expression with its share, and where the text of each licence stands."""
    lines = ["Licences of this dataset (the column `licence` holds that of each row)", ""]
    lines += [
        f"{one_line(use.licence)}: {use.pairs} pairs from {use.sources} sources"
        for use in facts.licences
    ]
    lines += ["", "Texts", ""]
    lines += [
        f"{name}: https://spdx.org/licenses/{name}.html"
        for name in sorted({name for use in facts.licences for name in identifiers(use.licence)})
    ]
    return "\n".join(lines) + "\n"


def identifiers(expression: str) -> list[str]:
    """SPDX identifiers (licences and exceptions) of an expression, in order."""
    return [name for name in re.findall(r"[\w.+-]+", expression) if name not in _OPERATORS]


def one_line(text: str | None) -> str:
    """Text from outside as it may stand in a line: names can hold line ends."""
    return " ".join("".join(c if c.isprintable() else " " for c in text or "").split())


def _paragraph(use: SourceUse) -> str:
    revision = f" {one_line(use.revision)}" if use.revision else ""
    files = "".join(f"  {one_line(path)}\n" for path in use.paths)
    return (
        f"{one_line(use.name)}{revision} ({one_line(use.source)})\n"
        f"Licence: {one_line(use.licence)}\nFiles:\n{files}"
    )
