"""The folder that the pipeline writes to."""

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
        """The tables."""
        return CorpusStore(self.folder)
