"""From the bytes of a source file to its text."""

from __future__ import annotations

import codecs
import re

# C0 other than tab, line ends, form feed and the escape of coloured messages; and C1.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
# Three bytes outside ASCII in a row: East Asian encodings, which Latin-1 would turn to nonsense.
_HIGH_RUN = re.compile(rb"[\xa0-\xff]{3}")


class NotTextError(ValueError):
    """The bytes are not text; the message says where."""


def decode(data: bytes, recorded: str | None = None) -> str:
    """The text of a source file, without a byte order mark.

    Where an archive recorded the encoding, that is the one. Otherwise:

    UTF-8, UTF-16 that declares itself by a byte order mark, or Latin-1 where it can be nothing
    else: no control characters and bytes outside ASCII only singly or in pairs (a name or a sign
    in a comment). Longer runs are GBK, Shift-JIS and their like; a wrong guess would make
    nonsense of the comments, so they are refused.

    Raises:
        NotTextError: the bytes hold a NUL, or are in none of these encodings.
    """
    if recorded is not None:
        return _declared(data, recorded, "it is recorded as such")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _declared(data, "utf-16", "its byte order mark says so")
    if b"\0" in data:
        raise NotTextError(f"NUL at byte {data.index(0)}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if _CONTROL.search(data) or _HIGH_RUN.search(data):
            raise NotTextError(
                f"byte 0x{data[error.start]:02x} at {error.start}: not UTF-8"
            ) from None
        return data.decode("latin-1")


def _declared(data: bytes, encoding: str, why: str) -> str:
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise NotTextError(f"{encoding} is no known encoding, though {why}") from None
    except UnicodeError as error:
        raise NotTextError(f"not {encoding}, though {why}: {error}") from None
    if "\0" in text:
        raise NotTextError("NUL")
    return text
