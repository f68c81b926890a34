"""The packages that training needs, and what to do where they are missing."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from cass_pipeline.errors import ConfigurationError

TOKENIZER = ("tokenizers",)
"""What a training set needs."""
TRAINING = (*TOKENIZER, "torch", "transformers", "accelerate", "safetensors")
"""What training and generation need."""
SCORING = ("sacrebleu",)
"""What text measures need."""


def require(packages: Iterable[str]) -> None:
    """Says how to install what is missing, before a stack trace does not.

    Raises:
        ConfigurationError: a package cannot be imported.
    """
    if missing := [name for name in packages if find_spec(name) is None]:
        raise ConfigurationError(
            f"not installed: {', '.join(missing)}. Training needs the extra `train` and torch: "
            "pip install 'cass_pipeline[train]' torch"
        )
