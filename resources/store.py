"""The folder that the pipeline writes to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
from pydantic import Field

from cass_pipeline.store import CorpusStore


class StoreResource(dg.ConfigurableResource[CorpusStore]):
    """Tables, reports and releases, all below one folder."""

    root: str = Field(description="Folder that holds everything the pipeline writes.")

    @property
    def folder(self) -> Path:
        """The folder, as an absolute path: workers may run elsewhere."""
        return Path(self.root).absolute()

    @property
    def store(self) -> CorpusStore:
        """The tables, to read."""
        return CorpusStore(self.folder)

    @contextmanager
    def writing(self, log: Callable[[str], None]) -> Iterator[CorpusStore]:
        """The tables, for one stage: another run's stage waits, and says so."""
        with self.store.lock(on_wait=log):
            yield self.store
