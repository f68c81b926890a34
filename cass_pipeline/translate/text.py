"""One file under translation: its tokens, what each becomes, and what was found."""

from __future__ import annotations

from collections.abc import Iterator

from cass_pipeline.translate.interface import Finding, Severity
from cass_pipeline.translate.lexer import Kind, Token, tokenize

LONGEST_STATEMENT = 2_000
"""Tokens; a text full of brackets that never close would else be read once for each."""


class FileText:
    """Tokens of one file and their replacements; rules edit it one after the other.

    A token's index is its handle. Blank tokens are kept but skipped by `after` and `before`.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tokens: tuple[Token, ...] = tokenize(text)
        self.output: list[str] = [token.text for token in self.tokens]
        self.findings: list[Finding] = []

    @property
    def result(self) -> str:
        """The text with all replacements."""
        return "".join(self.output)

    def names(self) -> Iterator[tuple[int, str]]:
        """Index and text of each identifier that no rule has touched yet."""
        for index, token in enumerate(self.tokens):
            if token.kind is Kind.NAME and self.output[index] == token.text:
                yield index, token.text

    def after(self, index: int) -> int | None:
        """Index of the next token that is not blank."""
        return next(
            (i for i in range(index + 1, len(self.tokens)) if not self.tokens[i].is_blank), None
        )

    def before(self, index: int) -> int | None:
        """Index of the last token that is not blank."""
        return next((i for i in range(index - 1, -1, -1) if not self.tokens[i].is_blank), None)

    def near(self, index: int) -> range:
        """Indices from `index` on, as far as one statement can reach."""
        return range(index, min(len(self.tokens), index + LONGEST_STATEMENT))

    def text_at(self, index: int | None) -> str:
        """Text of a token of the input; empty where there is none."""
        return "" if index is None else self.tokens[index].text

    def replace(
        self,
        first: int,
        replacement: str,
        rule: str,
        message: str,
        *,
        last: int | None = None,
        severity: Severity = Severity.INFO,
    ) -> None:
        """Puts `replacement` in place of the tokens `first` to `last` and notes a finding.

        Line ends inside the replaced range are kept, so that lines stay where they were.
        """
        end = first if last is None else last
        line_ends = [t.text for t in self.tokens[first : end + 1] if t.kind is Kind.NEWLINE]
        self.output[first : end + 1] = [""] * (end + 1 - first)
        self.output[first] = replacement + "".join(line_ends)
        self.note(first, rule, message, severity)

    def note(self, index: int, rule: str, message: str, severity: Severity) -> None:
        """Adds a finding at a token."""
        line = self.tokens[index].line
        self.findings.append(Finding(self.path, line, rule, severity, message))


def call_arguments(file: FileText, opening: int) -> list[tuple[int, int]] | None:
    """Token ranges (first, last; both inclusive) of a call's arguments.

    Commas inside nested brackets do not split; those of a template argument list do, since only
    a compiler can tell `<` from "less than".

    Args:
        file: The file.
        opening: Index of the `(`.

    Returns:
        The ranges without surrounding blanks, the last followed by the closing bracket; None
        where the brackets do not match, or an argument is empty.
    """
    depth = 0
    start = opening + 1
    ranges: list[tuple[int, int]] = []
    for index in file.near(opening):
        text = file.tokens[index].text if file.tokens[index].kind is Kind.MARK else ""
        if text in {"(", "[", "{"}:
            depth += 1
        elif text in {")", "]", "}"}:
            depth -= 1
        if depth == 0 or (depth == 1 and text == ","):
            inner = [i for i in range(start, index) if not file.tokens[i].is_blank]
            if not inner:
                return None
            ranges.append((inner[0], inner[-1]))
            start = index + 1
        if depth == 0:
            return ranges
    return None
