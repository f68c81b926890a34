"""CUDA that a dataset in the form of The Stack v2 lists, rebuilt repository by repository.

Only files that the dataset calls permissive are ever fetched. A unit's terms are those that the
dataset detected for its files, and those that the files state themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from cass_pipeline.outcomes import Reason
from cass_pipeline.records import Row, collected_row
from cass_pipeline.sources.blobs import BlobCache
from cass_pipeline.sources.candidate import Candidate, RejectedError
from cass_pipeline.sources.collect import TreeSource, collect_tree
from cass_pipeline.sources.licences import stated_in
from cass_pipeline.sources.opt_outs import OptOuts
from cass_pipeline.sources.settings import PathFilter, UnitLimits
from cass_pipeline.sources.spdx import Licence, normalised
from cass_pipeline.sources.stack_metadata import StackFile, StackRepository

PERMISSIVE = "permissive"
"""The `license_type` of files that may be used."""


class StackTree:
    """A `FileTree` whose listing is the dataset's, and whose bytes are fetched when read."""

    def __init__(self, repository: StackRepository, blobs: BlobCache, opt_outs: OptOuts) -> None:
        """Nothing is fetched yet."""
        self._name = repository.name
        self._files = {file.path: file for file in repository.files}
        self._blobs = blobs
        self._opt_outs = opt_outs
        self.sizes = {file.path: file.size for file in repository.files}
        self.unusable = repository.unusable
        self.refused: StackFile | None = None
        """The last file that was asked for and is opted out."""

    def read(self, path: str) -> bytes:
        """The bytes of a file of `sizes`.

        Raises:
            RejectedError: it may not be used, or its content cannot be had.
            OSError: the cache's folder is out of order.
        """
        file = self._files[path]
        self.check(file)
        return self._blobs.read(file.blob_id, frozenset(file.hashes))

    def check(self, file: StackFile) -> None:
        """Refuses what may not be used.

        Raises:
            RejectedError: OPTED_OUT or LICENCE_UNKNOWN.
        """
        if entry := self._opt_outs.of_file(self._name, file.path, file.hashes):
            self.refused = file
            raise RejectedError(Reason.OPTED_OUT, entry.evidence)
        if file.licence_type != PERMISSIVE:
            evidence = f"{file.path}: The Stack: {file.licence_type or 'no licence type'}"
            raise RejectedError(Reason.LICENCE_UNKNOWN, evidence)

    def warm(self, paths: Iterable[str], largest: int) -> None:
        """Starts to fetch the files of `paths` that are at most `largest` bytes."""
        for path in paths:
            file = self._files.get(path)
            if file is None or file.size > largest:
                continue
            try:
                self.check(file)
            except RejectedError:
                continue  # said again, and noted, when the file is read
            self._blobs.warm([file.blob_id])


@dataclass(frozen=True)
class StackLicences:
    """The terms of files, as detected for the dataset and as stated in the files."""

    files: dict[str, StackFile]

    def of_unit(self, texts: Iterable[tuple[str, str]]) -> Licence:
        """See `UnitLicences`."""
        return Licence.all_of([one for path, text in texts for one in self._of_file(path, text)])

    def _of_file(self, path: str, text: str) -> Iterator[Licence]:
        detected = self.files[path].licences
        for name in detected:
            yield Licence(normalised(name), (f"{path}: The Stack: {name}",))
        own = stated_in(path, text)
        if own is not None:
            yield own
        elif not detected:
            yield Licence(None, (f"{path}: The Stack: permissive, without a licence's name",))


def collect_stack_repository(
    repository: StackRepository, blobs: BlobCache, limits: UnitLimits, opt_outs: OptOuts
) -> Iterator[Row]:
    """A row of `COLLECTED` for each wanted file, with an empty key.

    Raises:
        ConfigurationError: the archive of contents lets nobody in.
    """
    tree = StackTree(repository, blobs, opt_outs)
    tree.warm(sorted(repository.wanted), limits.file_bytes)
    files = {file.path: file for file in repository.files}
    encodings = {file.path: file.encoding for file in repository.files if file.encoding}
    for candidate in collect_tree(
        tree,
        TreeSource("stack", repository.name),
        PathFilter(only=repository.wanted),
        limits,
        licences=StackLicences(files),
        encodings=encodings,
    ):
        yield _row(_completed(candidate, files), tree)


def _completed(candidate: Candidate, files: dict[str, StackFile]) -> Candidate:
    """The candidate with what the dataset knows of its file."""
    file = files.get(candidate.origin.path)
    if file is None:
        return candidate
    origin = replace(candidate.origin, revision=file.revision)
    unit = candidate.unit
    if unit is not None:
        tags = replace(unit.tags, generated=unit.tags.generated or file.generated)
        unit = replace(unit, origin=origin, tags=tags)
    return Candidate(origin, candidate.verdict, unit)


def _row(candidate: Candidate, tree: StackTree) -> Row:
    row = collected_row("", candidate.origin, candidate.verdict, candidate.unit)
    if candidate.verdict.reason is Reason.OPTED_OUT and tree.refused is not None:
        # By these the request is recognised in later runs, as long as it stands.
        file = {"path": tree.refused.path, "hashes": list(tree.refused.hashes)}
        row["source_files"] = [file]
    return row
