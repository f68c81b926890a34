"""Splits CUDA C++ text into tokens without losing a character.

Joined in order, the tokens' texts are the input again, whatever the input is. The lexer knows just
enough of the language to tell code from comments, literals and header names (ISO C++ [lex]): an
identifier inside a string is never an identifier token.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Kind(StrEnum):
    """What a token is."""

    SPACE = "space"
    """Blanks other than line ends."""
    NEWLINE = "newline"
    CONTINUATION = "continuation"
    """A backslash and the line end it hides."""
    COMMENT = "comment"
    NAME = "name"
    """Identifier or keyword."""
    NUMBER = "number"
    STRING = "string"
    """Character, string and raw string literals, with their prefix."""
    HEADER = "header"
    """What an `#include` names, with its quotes or angle brackets."""
    MARK = "mark"
    """Punctuation; `##`, `::`, `<<<` and `>>>` are one token, other marks one character."""


BLANK_KINDS = frozenset({Kind.SPACE, Kind.NEWLINE, Kind.CONTINUATION, Kind.COMMENT})
"""Kinds that separate tokens and mean nothing themselves."""


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of the text."""

    kind: Kind
    text: str
    line: int
    """1-based line on which the token starts."""
    directive: str = ""
    """Name of the preprocessor directive that the token belongs to, e.g. `define`; else empty."""

    @property
    def is_blank(self) -> bool:
        """Whether the token only separates others."""
        return self.kind in BLANK_KINDS


_RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]{0,16})\(')
_TOKEN = re.compile(
    r"""
      (?P<newline>\r\n|\n|\r)
    | (?P<continuation>\\(?:\r\n|\n|\r))
    | (?P<space>[^\S\r\n]+)
    | (?P<comment>//(?:\\(?:\r\n|.)|[^\\\r\n])*+|/\*(?:.*?\*/|.*))
    | (?P<string>(?:u8|[uUL])?"(?:\\(?:\r\n|.)|[^"\\\r\n])*+"?
                |(?:u8|[uUL])?'(?:\\(?:\r\n|.)|[^'\\\r\n])*+'?)
    | (?P<name>[^\W\d]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|'?\w|\.)*+)
    | (?P<mark><<<|>>>|\#\#|::|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_HEADER = re.compile(r'<[^>\r\n]*>|"[^"\r\n]*"')
_INCLUDES = frozenset({"include", "include_next", "import"})
_KINDS = {kind.value: kind for kind in Kind}


@lru_cache(maxsize=512)
def tokenize(text: str) -> tuple[Token, ...]:
    """Splits `text`; any text at all has tokens, so nothing is raised.

    Results are kept, because the units of one package share most of their headers.
    """
    return tuple(_Lexer(text).run())


class _Lexer:
    """State of one pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.tokens: list[Token] = []
        self.directive = ""
        self.line_is_blank = True
        self.after_hash = False
        self.endless_raw: set[str] = set()

    def run(self) -> list[Token]:
        """Takes tokens until the text is used up."""
        while self.at < len(self.text):
            kind, end = self._next()
            if self.after_hash and kind is Kind.NAME:
                self.directive, self.after_hash = self.text[self.at : end], False
            token = Token(kind, self.text[self.at : end], self.line, self.directive)
            self.tokens.append(token)
            self.at = end
            self.line += _line_ends(token.text)
            self._follow(token)
        return self.tokens

    def _next(self) -> tuple[Kind, int]:
        if self.directive in _INCLUDES and (header := _HEADER.match(self.text, self.at)):
            return Kind.HEADER, header.end()
        raw = _RAW_STRING.match(self.text, self.at)
        if raw and raw[1] not in self.endless_raw:
            closing = f'){raw[1]}"'
            end = self.text.find(closing, raw.end())
            if end >= 0:
                return Kind.STRING, end + len(closing)
            # A text full of openings that never close would else be searched once for each.
            self.endless_raw.add(raw[1])
        match = _TOKEN.match(self.text, self.at)
        if match is None or match.lastgroup is None:
            return Kind.MARK, self.at + 1
        return _KINDS[match.lastgroup], match.end()

    def _follow(self, token: Token) -> None:
        """Keeps track of whether the next token belongs to a directive, and to which."""
        if token.kind is Kind.NEWLINE:
            self.directive, self.line_is_blank, self.after_hash = "", True, False
        elif token.is_blank:
            return
        elif token.text == "#" and self.line_is_blank:
            self.line_is_blank, self.after_hash = False, True
        else:
            self.line_is_blank = self.after_hash = False


def _line_ends(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")
