"""Where releases are published."""

import os

import dagster as dg
from pydantic import Field


class HubResource(dg.ConfigurableResource[None]):
    """A dataset repository on the Hugging Face Hub; without one, releases stay local."""

    repository: str = Field(
        default="", description="Dataset repository, as `owner/name`; empty: local release only."
    )
    repository_variable: str = Field(
        default="CASS_HUB_REPOSITORY",
        description="Environment variable that names the repository where `repository` is empty.",
    )
    token_variable: str = Field(
        default="HF_TOKEN",
        description="Environment variable that holds the token. The token itself is never stored.",
    )
    endpoint: str = Field(default="", description="The Hub's address; empty is the client's own.")
    private: bool = Field(default=True, description="Whether a new repository is private.")

    @property
    def target(self) -> str | None:
        """The repository to publish to, if there is one."""
        return self.repository or os.environ.get(self.repository_variable) or None

    @property
    def token(self) -> str | None:
        """The token, read when it is needed."""
        return os.environ.get(self.token_variable) or None
