"""C, CUDA and HIP source as tokens: what deduplication compares.

Comments and white space are dropped, because they do not change the program; identifiers and
literals are kept as they are, because renaming them is the most common way in which two *different*
kernels of a family differ (`add` and `mul`, `256` and `512`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

# Group 1 is the token; a match without it is white space or a comment. Alternatives are tried in
# order, so the frequent ones come first. What is left open at the end of the text runs to the end,
# as in a compiler: it also keeps hostile input from costing quadratic time. `<` and `>` are always
# tokens of their own, because `>>` may close two template lists.
_LEXER = re.compile(
    r"""
      \s+
    | \\\r?\n
    | //(?: [^\n\\] | \\(?:.|\Z) )*
    | /\*.*?(?: \*/ | \Z )
    | (
        [^\W\d][\w$]*+(?!["'])
      | [][(){}<>;,]
      | \.?\d(?: [eEpP][+-] | '?[\w.] )*
      | ->\*? | :: | \+\+ | -- | && | \|\| | \#\# | \.\.\. | [-+*/%&|^!=]=
      | (?: u8 | [uUL] )?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?(?: \)(?P=delimiter)" | \Z )
      | (?: u8 | [uUL] )?"(?: [^"\\\n] | \\(?:.|\Z) )*"?
      | (?: u8 | [uUL] )?'(?: [^'\\\n] | \\(?:.|\Z) )*'?
      | [^\W\d][\w$]*
      | .
      )
    """,
    re.VERBOSE | re.DOTALL,
)


def code_tokens(text: str) -> list[str]:
    """The tokens of C, C++, CUDA or HIP text, in order, without comments and white space.

    Any text gives tokens; nothing is an error, since pairs have passed a compiler.
    """
    return [match[0] for match in _LEXER.findall(text) if match[0]]


def token_hash(tokens: Iterable[str]) -> str:
    """128-bit hash (hexadecimal) of a token sequence: equal for equal code, however formatted."""
    # NUL separates, because a token can hold a blank (string literals) but no compilable NUL.
    data = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def compared_tokens(files: Mapping[str, str], main_path: str) -> list[str]:
    """The tokens that stand for one side of a pair in deduplication.

    They are those of the main file. Headers are left out, because all units of a package share
    them: with headers, every two units of a package would be near-duplicates. The exception is a
    main file without a kernel of its own (it instantiates or calls what headers define); there the
    headers that hold a `__global__` are added in path order, or thin main files of unrelated
    packages would be taken for duplicates.

    Args:
        files: text by path, all files of the unit.
        main_path: a key of `files`.
    """
    tokens = code_tokens(files[main_path])
    if "__global__" in tokens:
        return tokens
    return tokens + _kernel_headers(files, main_path)


def _kernel_headers(files: Mapping[str, str], main_path: str) -> list[str]:
    found: list[str] = []
    for path in sorted(files):
        if path != main_path and "__global__" in files[path]:
            tokens: Sequence[str] = code_tokens(files[path])
            if "__global__" in tokens:
                found.extend(tokens)
    return found
