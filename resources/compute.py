"""How much of this machine the pipeline uses."""

import os

import dagster as dg
from pydantic import Field

from cass_pipeline.corpus.engine import Engine
from cass_pipeline.fanout import LocalFanout
from resources.store import StoreResource


class FanoutResource(dg.ConfigurableResource[LocalFanout]):
    """Where the shards of a stage are worked on."""

    workers: int = Field(
        default=0, ge=0, description="Worker processes; 0 is one for each CPU of this process."
    )

    @property
    def fanout(self) -> LocalFanout:
        """A pool of processes on this machine."""
        return LocalFanout(self.workers)


class EngineResource(dg.ConfigurableResource[Engine]):
    """DuckDB, for joins and deduplication larger than memory."""

    store: StoreResource
    memory_limit: str = Field(
        default="4GB", description="DuckDB's buffer memory; what exceeds it goes to disk."
    )

    @property
    def engine(self) -> Engine:
        """Connections under these limits."""
        return Engine(
            temp_directory=self.store.folder / "tmp",
            memory_limit=self.memory_limit,
            threads=len(os.sched_getaffinity(0)),
        )
