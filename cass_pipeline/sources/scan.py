"""Read a C++ or CUDA source without a compiler: comments, includes, kernels.

Everything here is one pass of a regular expression whose alternatives always match up to the end
of the text, so that no input, however hostile, takes more than linear time or raises.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A raw string, comment or literal without an end runs to the end of the text (or of the line).
_TOKEN = re.compile(
    r"""
      (?P<comment> //(?:\\\n|[^\n])* | /\*(?s:.)*?(?:\*/|\Z) )
    | (?P<raw> \b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\((?s:.)*?(?:\)(?P=mark)"|\Z) )
    | (?P<string> "(?:\\(?s:.)|[^"\\\n])*"? )
    | (?P<number> \b\d(?:'?[\w.])* )
    | (?P<char> '(?:\\(?s:.)|[^'\\\n])*'? )
    """,
    re.VERBOSE,
)
_INCLUDE = re.compile(
    r"""^[ \t]*\#[ \t]*(?P<word>include_next|include|import)[ \t]*
        (?: "(?P<quoted>[^"\n]+)" | <(?P<angle>[^>\n]+)> )""",
    re.VERBOSE | re.MULTILINE,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
_SIGNATURE = re.compile(r"\b__global__\b|[(){};]|(?<![=!<>])=(?!=)")
_MAIN = re.compile(r"\b(?:int|void|auto)\s+main\s*\([^;{}()]{0,1000}\)[^;{}()]{0,100}\{")


@dataclass(frozen=True)
class Include:
    """One `#include` whose name is written out."""

    name: str
    """The text between the quotes or angle brackets."""
    quoted: bool
    """Written in quotes: the including file's own folder is searched first."""
    next_only: bool = False
    """`#include_next`: asks for the header behind the one in the tree."""


def plain_lines(text: str) -> str:
    r"""`text` with line ends as `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def without_comments(text: str) -> str:
    """`text` with each comment as blanks; lines stay where they are."""
    return _TOKEN.sub(lambda m: _blank(m.group()) if m["comment"] else m.group(), text)


def code_only(text: str) -> str:
    """`text` with comments as blanks, literals emptied, and continued lines joined."""
    return _spliced(_TOKEN.sub(_drop_literal, text))


def includes(text: str) -> tuple[Include, ...]:
    """Every include of the text in order, once each, in whatever `#if` it stands.

    Ignored: includes in comments and raw strings, and those named by a macro.
    """
    directives = _spliced(_TOKEN.sub(_keep_plain_strings, plain_lines(text)))
    found = (
        Include(
            name=(match["quoted"] or match["angle"]).strip(),
            quoted=match["quoted"] is not None,
            next_only=match["word"] == "include_next",
        )
        for match in _INCLUDE.finditer(directives)
    )
    return tuple(dict.fromkeys(include for include in found if include.name))


def count_kernels(text: str) -> int:
    """Number of `__global__` functions with a body, templates and macros that hold one included.

    Declarations and explicit instantiations do not count; both branches of an `#if` do.
    """
    code = code_only(plain_lines(text))
    directives = sum(_count_bodies(line.group()) for line in _DIRECTIVE.finditer(code))
    return directives + _count_bodies(_DIRECTIVE.sub("", code))


def count_code_lines(text: str) -> int:
    """Lines that hold more than blanks and comments."""
    return sum(1 for line in without_comments(plain_lines(text)).split("\n") if line.strip())


def has_main(text: str) -> bool:
    """Whether the text defines `main()`."""
    return _MAIN.search(_DIRECTIVE.sub("", code_only(plain_lines(text)))) is not None


def _count_bodies(code: str) -> int:
    """After each `__global__`, the first `{`, `;` or single `=` outside parentheses decides."""
    bodies, depth, pending = 0, 0, False
    for match in _SIGNATURE.finditer(code):
        part = match.group()
        if part == "__global__":
            pending, depth = True, 0
        elif not pending:
            continue
        elif part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
        elif depth <= 0:
            bodies += part == "{"
            pending = False
    return bodies


def _blank(text: str) -> str:
    return "".join("\n" if char == "\n" else " " for char in text)


def _drop_literal(match: re.Match[str]) -> str:
    if match["number"] is not None:
        return match.group()
    return " " if match["comment"] is None and match["raw"] is None else _blank(match.group())


def _keep_plain_strings(match: re.Match[str]) -> str:
    dropped = match["comment"] is not None or match["raw"] is not None
    return _blank(match.group()) if dropped else match.group()


def _spliced(text: str) -> str:
    return text.replace("\\\n", "")
