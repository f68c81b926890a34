"""The CUDA → HIP translator: applies the rules to every file of a tree."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cass_pipeline.translate.calls import adapt_calls
from cass_pipeline.translate.clashes import set_definitions_aside
from cass_pipeline.translate.compat import COMPAT_HEADER, compat_header, identifiers
from cass_pipeline.translate.facts import TreeFacts, gather
from cass_pipeline.translate.include_table import RUNTIME_HEADER
from cass_pipeline.translate.includes import (
    hip_header,
    included,
    is_cuda_header,
    is_hip_header,
    is_ported,
    local_path,
    rename_includes,
)
from cass_pipeline.translate.interface import Finding, Severity, Translation
from cass_pipeline.translate.libcuxx import translate_libraries
from cass_pipeline.translate.names import rename_names
from cass_pipeline.translate.ptx import translate_asm
from cass_pipeline.translate.text import FileText
from cass_pipeline.translate.warp import drop_full_masks
from cass_pipeline.units import SourceTree, digest_of

_PREAMBLE = re.compile(
    r"(?:\s|//[^\n]*(?:\n|$)|/\*.*?\*/|#[ \t]*pragma[ \t]+once\b[^\n]*(?:\n|$))*+", re.DOTALL
)
_RULE_SUFFIXES = (".py", ".h", ".txt")


@dataclass(frozen=True)
class CudaToHip:
    """Translates by rules over tokens; reports what it changed and what it could not."""

    @property
    def fingerprint(self) -> str:
        """Hash over the rules, the tables and the index of HIP names."""
        return _fingerprint()

    def translate(self, tree: SourceTree) -> Translation:
        """Translates every file; a tree that is HIP already comes back as it was.

        Args:
            tree: The CUDA tree.

        Returns:
            The HIP tree, whose main file is named `.hip`, and the findings by file and line.
        """
        texts = [FileText(path, text) for path, text in tree.files.items()]
        facts = gather(tree, texts)
        if facts.is_hip:
            return Translation(tree, ())
        for text in texts:
            if posixpath.basename(text.path) != COMPAT_HEADER and not is_ported(text):
                _apply_rules(text, tree, facts)
        results = {text.path: text.result for text in texts}
        main = next(text for text in texts if text.path == tree.main_path)
        results |= _with_headers(main, results, tree, facts)
        main_path = _main_path(tree, texts)
        if main_path != tree.main_path:
            message = f"{tree.main_path} -> {main_path}"
            main.findings.append(_finding(tree, 1, "file-name", message))
        renamed = {main_path if p == tree.main_path else p: t for p, t in results.items()}
        findings = [finding for text in texts for finding in text.findings]
        return Translation(
            SourceTree(renamed, main_path, tree.include_dirs),
            tuple(sorted(findings, key=lambda finding: (finding.path, finding.line))),
        )


def _apply_rules(file: FileText, tree: SourceTree, facts: TreeFacts) -> None:
    """Structure first, names last: a rule looks for the names of the input."""
    set_definitions_aside(file)
    translate_asm(file)
    drop_full_masks(file, facts)
    adapt_calls(file)
    translate_libraries(file, facts.own_names)
    rename_includes(file, tree)
    rename_names(file, facts.own_names, facts.name_changes)


def _with_headers(
    main: FileText,
    results: dict[str, str],
    tree: SourceTree,
    facts: TreeFacts,
) -> dict[str, str]:
    """The main file with the includes it needs, and the compatibility header if it needs that."""
    lines = []
    changed: dict[str, str] = {}
    if _needs_runtime(main, tree):
        lines.append(f"#include <{RUNTIME_HEADER}>")
    path = posixpath.join(posixpath.dirname(tree.main_path), COMPAT_HEADER)
    if path not in tree.files:
        used = frozenset().union(*(identifiers(text) for text in results.values()))
        header = compat_header(used - facts.own_names)
        if header:
            lines.append(f'#include "{COMPAT_HEADER}"')
            changed[path] = header
    if lines:
        text = results[tree.main_path]
        at = _first_code(text)
        for line in lines:
            number = text.count("\n", 0, at) + 1
            main.findings.append(_finding(tree, number, "added-include", line))
        changed[tree.main_path] = "".join((text[:at], "\n".join(lines), "\n", text[at:]))
    return changed


def _needs_runtime(main: FileText, tree: SourceTree) -> bool:
    """nvcc includes the runtime header before a `.cu` file's first line; for HIP it is written.

    The tree's own headers and the other headers of CUDA may rely on it, so one that comes first
    needs it as well.
    """
    if not tree.main_path.endswith(".cu"):
        return False
    for _, name in included(main):
        is_local = local_path(tree, main.path, name) is not None
        if not is_local and RUNTIME_HEADER in (name, hip_header(name)):
            return False
        if is_local or is_cuda_header(name) or is_hip_header(name):
            return True
    return True


def _first_code(text: str) -> int:
    """Start of the first line after leading comments and `#pragma once`."""
    match = _PREAMBLE.match(text)
    return text.rfind("\n", 0, match.end() if match else 0) + 1


def _main_path(tree: SourceTree, texts: list[FileText]) -> str:
    """`x.hip` for `x.cu`, unless that exists or another file includes `x.cu`."""
    stem, suffix = posixpath.splitext(tree.main_path)
    path = f"{stem}.hip"
    names = ((text.path, name) for text in texts for _, name in included(text))
    is_included = any(local_path(tree, by, name) == tree.main_path for by, name in names)
    return tree.main_path if suffix != ".cu" or path in tree.files or is_included else path


def _finding(tree: SourceTree, line: int, rule: str, message: str) -> Finding:
    return Finding(tree.main_path, line, rule, Severity.INFO, message)


@cache
def _fingerprint() -> str:
    folder = files("cass_pipeline.translate")
    rules = sorted(
        (entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if entry.name.endswith(_RULE_SUFFIXES)
    )
    return digest_of(*(part for rule in rules for part in rule))
