"""Reads functions out of a 64-bit little-endian ELF file, for comparing code objects."""

from __future__ import annotations

import struct

_SYMTAB, _FUNCTION = 2, 2


def functions_of(elf: bytes) -> dict[str, bytes]:
    """Code of each function in the symbol table, by name."""
    offset, entry_size, count = _section_table(elf)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", elf, offset + index * entry_size)
        for index in range(count)
    ]
    table = next(section for section in sections if section[1] == _SYMTAB)
    names = sections[table[6]][4]
    functions: dict[str, bytes] = {}
    for at in range(table[4], table[4] + table[5], 24):
        name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", elf, at)
        if info & 15 == _FUNCTION:
            start = sections[section][4] + value - sections[section][3]
            end = elf.index(b"\0", names + name)
            functions[elf[names + name : end].decode()] = elf[start : start + size]
    return functions


def _section_table(elf: bytes) -> tuple[int, int, int]:
    assert elf.startswith(b"\x7fELF\x02\x01")
    (offset,) = struct.unpack_from("<Q", elf, 40)
    entry_size, count = struct.unpack_from("<HH", elf, 58)
    return offset, entry_size, count
