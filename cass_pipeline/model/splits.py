"""Train, validation and test, by cluster of near-duplicates."""

from __future__ import annotations

from dataclasses import dataclass

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.units import digest_of

TRAIN, VALIDATION, TEST = "train", "validation", "test"
SPLITS = (TRAIN, VALIDATION, TEST)
"""Later ones come first when two want the same code: what is held out is not trained on."""

_BITS = 32


@dataclass(frozen=True)
class Shares:
    """How much of the clusters is held out."""

    validation: float = 0.1
    test: float = 0.1

    def __post_init__(self) -> None:
        if min(self.validation, self.test) < 0 or self.validation + self.test >= 1:
            raise ConfigurationError(
                "shares of validation and test are at least 0 and together less than 1, not "
                f"{self.validation} and {self.test}"
            )


def split_of(cluster_id: str, shares: Shares) -> str:
    """The split of a cluster: by its hash alone, so that other clusters never move it."""
    place = int(digest_of("split", cluster_id)[: _BITS // 4], 16) / 2**_BITS
    if place < shares.test:
        return TEST
    return VALIDATION if place < shares.test + shares.validation else TRAIN
