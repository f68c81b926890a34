"""Which model is trained and evaluated."""

import dagster as dg
from pydantic import Field

from cass_pipeline.model.settings import ModelSettings


class ModelResource(dg.ConfigurableResource[ModelSettings]):
    """An existing causal language model, or the shape of a small one trained from nothing."""

    base_model: str = Field(
        default="", description="Hub id or folder; empty trains a model from nothing."
    )
    revision: str = Field(default="", description="Revision of a Hub id.")
    max_tokens: int = Field(
        default=ModelSettings.max_tokens, gt=0, description="Longest record, with its answer."
    )
    vocabulary: int = Field(
        default=ModelSettings.vocabulary, ge=300, description="Without a base model: tokens."
    )
    hidden_size: int = Field(
        default=ModelSettings.hidden_size, gt=0, description="Without a base model: width."
    )
    layers: int = Field(
        default=ModelSettings.layers, gt=0, description="Without a base model: depth."
    )
    heads: int = Field(
        default=ModelSettings.heads, gt=0, description="Without a base model: attention heads."
    )

    @property
    def settings(self) -> ModelSettings:
        """The same, as the library takes it.

        Raises:
            ConfigurationError: the shape is impossible.
        """
        names = ModelSettings.__dataclass_fields__
        return ModelSettings(**{name: getattr(self, name) for name in names})
