"""Settings of training sets, models and their evaluation: part of their content keys."""

from __future__ import annotations

from dataclasses import dataclass, field

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.model.splits import Shares


@dataclass(frozen=True)
class ModelSettings:
    """Which model: one that exists, or the shape of one that is trained from nothing."""

    base_model: str = ""
    """Hub id or folder of a causal language model; empty trains one from nothing."""
    revision: str = ""
    """Revision of a Hub id; empty is its main branch."""
    max_tokens: int = 2048
    """Longest record, prompt and answer together."""
    vocabulary: int = 4096
    """Tokens of the tokenizer that is trained where there is no base model."""
    hidden_size: int = 128
    layers: int = 4
    heads: int = 4

    def __post_init__(self) -> None:
        if self.hidden_size % (2 * self.heads):
            raise ConfigurationError(
                f"hidden_size is a multiple of twice the heads, not {self.hidden_size} for "
                f"{self.heads} heads"
            )


@dataclass(frozen=True)
class SetSettings:
    """What goes into a training set."""

    model: ModelSettings = field(default_factory=ModelSettings)
    shares: Shares = field(default_factory=Shares)


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained. What only concerns the machine is not here."""

    epochs: float = 3.0
    max_steps: int = 0
    """Ends training after so many optimiser steps, if earlier than the epochs; 0: no limit."""
    batch_size: int = 8
    """Records of one optimiser step on each device."""
    accumulation: int = 1
    """Batches whose gradients make one step."""
    learning_rate: float = 1e-3
    warmup_share: float = 0.05
    weight_decay: float = 0.01
    seed: int = 1
    validation_records: int = 64
    """Records that the validation loss is measured on."""


@dataclass(frozen=True)
class RunSettings:
    """How training runs: nothing here changes what is learnt."""

    save_steps: int = 50
    """Optimiser steps between two checkpoints; a killed run loses fewer than this."""
    log_steps: int = 5
    processes: int = 0
    """Training processes; 0 is one for each GPU, or one where there is none."""


@dataclass(frozen=True)
class EvaluationSettings:
    """What is evaluated."""

    items_per_direction: int = 6
    """Held-out records of each direction; 0 takes all."""
    max_new_tokens: int = 768
    """Longest answer; a longer one counts as not ended."""
    batch_size: int = 16
    """Answers generated together."""
