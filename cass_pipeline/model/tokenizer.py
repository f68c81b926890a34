"""The tokens that a model reads: of its base model, or of a tokenizer trained for it.

A trained one is saved as `transformers` expects it, so that every tool that reads a model folder
reads it too; to make and use it only the small package `tokenizers` is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cass_pipeline.errors import ConfigurationError
from cass_pipeline.model.settings import ModelSettings

END, PAD = "<|end|>", "<|pad|>"
# Mnemonics, registers and identifiers are words, whatever dots and underscores they hold.
_WORD = r" ?[\w.$@]+| ?[^\w\s]+|\s+"
_CONFIG = "tokenizer_config.json"
_TEMPLATES = ("chat_template", "chat_template.jinja")


@dataclass(frozen=True)
class Encoder:
    """Texts to token ids, as training, counting and generation all see them."""

    end_id: int
    pad_id: int
    _encode: Callable[[Sequence[str]], list[list[int]]]
    _render: Callable[[str], str]

    def prompts(self, requests: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Ids of what the model is given, for instructions and their source texts."""
        return self._encode([self._render(f"{task}\n\n{source}") for task, source in requests])

    def answers(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of what it should say, with the end of it."""
        return [[*ids, self.end_id] for ids in self._encode(texts)]


def train_tokenizer(texts: Iterable[str], vocabulary: int, folder: Path) -> None:
    """Trains a byte-level BPE tokenizer and saves it to `folder`."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORD), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, PAD],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": PAD,
        "clean_up_tokenization_spaces": False,
    }
    (folder / _CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True))


def save_base_tokenizer(settings: ModelSettings, folder: Path) -> None:
    """Saves the base model's tokenizer to `folder`.

    Raises:
        ConfigurationError: it cannot be had.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            settings.base_model, revision=settings.revision or None
        )
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the tokenizer of base_model {settings.base_model!r} cannot be loaded: {error}"
        ) from error
    if tokenizer.eos_token_id is None:
        raise ConfigurationError(
            f"the tokenizer of {settings.base_model!r} has no end-of-sequence token, so that an "
            "answer could not end: choose another base_model"
        )
    tokenizer.save_pretrained(folder)


def load_encoder(folder: Path) -> Encoder:
    """The encoder of a folder that one of the two functions above wrote, or of a model."""
    config = json.loads((folder / _CONFIG).read_text())
    if any(name in config or (folder / name).exists() for name in _TEMPLATES):
        return _chat_encoder(folder)
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(texts: Sequence[str]) -> list[list[int]]:
        found = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids for encoding in found]

    end, pad = (_token(config.get(name) or END) for name in ("eos_token", "pad_token"))
    end_id, pad_id = tokenizer.token_to_id(end), tokenizer.token_to_id(pad)
    if end_id is None:
        raise ConfigurationError(f"the tokenizer in {folder} has no token {end!r} to end with")
    return Encoder(
        end_id,
        end_id if pad_id is None else pad_id,
        encode,
        lambda request: f"{request}\n\n### Answer\n",
    )


def _chat_encoder(folder: Path) -> Encoder:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)

    def encode(texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return ids

    def render(request: str) -> str:
        messages = [{"role": "user", "content": request}]
        return str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )

    pad_id = tokenizer.pad_token_id
    end_id = tokenizer.eos_token_id
    return Encoder(end_id, end_id if pad_id is None else pad_id, encode, render)


def _token(value: str | dict[str, str]) -> str:
    """Tokenizer files hold a special token as text, or as an object with its text."""
    return value if isinstance(value, str) else value["content"]
