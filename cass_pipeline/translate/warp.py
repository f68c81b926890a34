"""Warp-level calls: CUDA names the taking part lanes by a mask, HIP does not.

A mask of all lanes says nothing on a machine whose wave runs in lockstep, so such a call becomes
HIP's own call without a mask. Any other mask keeps its call, which the compatibility header
defines.
"""

from __future__ import annotations

from cass_pipeline.translate.facts import FULL_MASK, TreeFacts
from cass_pipeline.translate.lexer import Kind
from cass_pipeline.translate.text import FileText, call_arguments

CALLS: dict[str, str] = {
    "__shfl_sync": "__shfl",
    "__shfl_up_sync": "__shfl_up",
    "__shfl_down_sync": "__shfl_down",
    "__shfl_xor_sync": "__shfl_xor",
    "__any_sync": "__any",
    "__all_sync": "__all",
    # HIP's ballot has 64 bits on every device; the upper half is zero where a wave has 32 lanes.
    "__ballot_sync": "(unsigned int)__ballot",
}
"""What a call with a mask of all lanes becomes."""


def drop_full_masks(file: FileText, facts: TreeFacts) -> None:
    """Rewrites warp calls whose mask is all lanes."""
    for index, name in file.names():
        opening = file.after(index)
        if name not in CALLS or name in facts.own_names or file.text_at(opening) != "(":
            continue
        assert opening is not None
        arguments = call_arguments(file, opening)
        if arguments is None or len(arguments) < 2:
            continue
        first, last = arguments[0]
        if is_full_mask(file, first, last, facts):
            file.replace(index, CALLS[name], "warp-mask", f"{name} of all lanes -> {CALLS[name]}")
            _drop_first(file, opening, arguments[1][0])


def _drop_first(file: FileText, opening: int, second: int) -> None:
    """Removes the first argument and its comma; comments and line ends before the second stay."""
    blanks = [i for i in range(opening + 1, second) if file.tokens[i].is_blank]
    says_nothing = all(file.tokens[i].kind is Kind.SPACE for i in blanks)
    for index in range(opening + 1, second):
        if says_nothing or index not in blanks:
            file.output[index] = ""


def is_full_mask(file: FileText, first: int, last: int, facts: TreeFacts) -> bool:
    """Whether the tokens `first` to `last` are a lane mask of 32 ones, or of the active lanes."""
    text = "".join(token.text for token in file.tokens[first : last + 1] if not token.is_blank)
    return (
        FULL_MASK.fullmatch(text) is not None
        or text in facts.full_masks
        or text == "__activemask()"
    )
