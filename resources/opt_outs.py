"""What must not be used."""

from pathlib import Path

import dagster as dg
from pydantic import Field

from cass_pipeline.sources.opt_outs import OptOuts, read_opt_outs


class OptOutsResource(dg.ConfigurableResource[OptOuts]):
    """The list of those who asked that their code not be used; read anew by every asset."""

    path: str = Field(
        default="config/opt_outs.yaml", description="YAML file with `opt_outs`; it must exist."
    )

    def read(self) -> OptOuts:
        """The requests as they are now.

        Raises:
            ConfigurationError: the file is missing, or an entry is wrong.
        """
        return read_opt_outs(Path(self.path))
