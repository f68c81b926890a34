"""`training_set`: instruction records from the corpus, split by cluster, with their tokenizer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cass_pipeline.errors import StoreError
from cass_pipeline.model.candidates import Candidate, candidate_count, candidates
from cass_pipeline.model.extra import TOKENIZER, TRAINING, require
from cass_pipeline.model.selection import Choice, choose
from cass_pipeline.model.settings import SetSettings
from cass_pipeline.model.splits import TRAIN
from cass_pipeline.model.tokenizer import (
    Encoder,
    load_encoder,
    save_base_tokenizer,
    train_tokenizer,
)
from cass_pipeline.outcomes import Outcome, Reason, Verdict
from cass_pipeline.records import (
    CORPUS,
    RECORD,
    TRAINING_RECORDS,
    TRAINING_SET,
    Row,
    verdict_columns,
)
from cass_pipeline.stage import Log, StageReport, run_whole_stage
from cass_pipeline.stages.corpus import kernel_files, pair_files
from cass_pipeline.store import CorpusStore, batched
from cass_pipeline.units import digest_of

VERSION = "1"
"""Raised when the same corpus would give other records."""
_BATCH_ROWS = 64
_TOKENIZER_CHARS = 16 << 20
"""Text that a tokenizer is trained on; more changes little and takes long."""
_TOKEN_CHARS = 8
"""Longer than a token on average: records above this many characters a token are left out when a
tokenizer is trained, as they will not fit the model."""
_NOT_COUNTED_CHARS = 32
"""No text has so many characters a token: a longer record is too long without being counted."""

Source = Callable[[], Iterable[Candidate]]


def update(store: CorpusStore, settings: SetSettings, log: Log) -> StageReport:
    """Makes the records and their tokenizer anew where the corpus or a setting changed.

    Raises:
        ConfigurationError: a package is missing, or the base model's tokenizer.
    """
    require(TRAINING if settings.model.base_model else TOKENIZER)
    corpus_key = store.table("corpus", CORPUS).manifest().content_key
    if not corpus_key:
        raise StoreError("there is no corpus yet; materialize `corpus` first")
    content_key = digest_of("training_set", VERSION, corpus_key, repr(settings))
    folder = training_folder(store)

    def source() -> Iterator[Candidate]:
        return candidates(pair_files(store), kernel_files(store))

    def compute() -> Iterator[Row]:
        log("training_set: choosing records")
        rows = _write(source, settings, folder, content_key)
        return ({**row, "key": digest_of(content_key, row["record_id"])} for row in rows)

    table = store.table("training_set", TRAINING_SET)
    current = set_key(folder) == content_key
    given = candidates_of(store)
    return run_whole_stage(table, content_key, compute, given, log=log, force=not current)


def candidates_of(store: CorpusStore) -> int:
    """How many records the corpus could give, counted from its files."""
    return candidate_count(pair_files(store), kernel_files(store))


def training_folder(store: CorpusStore) -> Path:
    """Where `records.parquet` and the tokenizer are: all that training needs."""
    return store.root / "training_set"


def records_file(folder: Path) -> Path:
    """The kept records, of `records.TRAINING_RECORDS`, in a folder of `training_folder`."""
    return folder / "records.parquet"


def tokenizer_folder(folder: Path) -> Path:
    """The tokenizer in a folder of `training_folder`."""
    return folder / "tokenizer"


def set_key(folder: Path) -> str:
    """What the folder's files were made from; empty where there are none."""
    key = folder / "key"
    return key.read_text() if key.is_file() else ""


@dataclass(frozen=True)
class _Counted:
    """A candidate with its final verdict."""

    candidate: Candidate
    choice: Choice
    prompt_tokens: int | None
    answer_tokens: int | None

    def row(self, schema: pa.Schema) -> Row:
        """The columns of `schema`."""
        candidate = self.candidate
        columns = {name: getattr(candidate, name) for name in RECORD.names if name != "direction"}
        columns |= {
            **verdict_columns(self.choice.verdict),
            "direction": candidate.direction.name,
            "unit_id": candidate.unit_id,
            "split": self.choice.split,
            "prompt_tokens": self.prompt_tokens,
            "answer_tokens": self.answer_tokens,
            "instruction": candidate.instruction,
            "source": candidate.source,
            "target": candidate.target,
        }
        return {name: columns[name] for name in schema.names if name in columns}


def _write(source: Source, settings: SetSettings, folder: Path, content_key: str) -> list[Row]:
    """Files are built beside the folder and then put in its place together; rows without key."""
    building = folder.with_name(f".{folder.name}")
    rows: list[Row] = []
    try:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        choices = choose(source(), settings.shares)
        encoder = _tokenizer(source, choices, settings, tokenizer_folder(building))
        counted = _counted(source, choices, encoder, settings.model.max_tokens)
        with pq.ParquetWriter(
            records_file(building), TRAINING_RECORDS, compression="zstd"
        ) as writer:
            for batch in batched(counted, _BATCH_ROWS):
                kept = [one for one in batch if one.choice.verdict.outcome is Outcome.KEPT]
                records = [one.row(TRAINING_RECORDS) for one in kept]
                writer.write_table(pa.Table.from_pylist(records, schema=TRAINING_RECORDS))
                rows += [one.row(TRAINING_SET) for one in batch]
        (building / "key").write_text(content_key)
        shutil.rmtree(folder, ignore_errors=True)
        building.rename(folder)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"the training set cannot be written to {folder}: {error}; mend it and run this again"
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return rows


def _tokenizer(
    source: Source, choices: dict[str, Choice], settings: SetSettings, folder: Path
) -> Encoder:
    """The base model's tokenizer, or one that has seen the training split alone."""
    if settings.model.base_model:
        save_base_tokenizer(settings.model, folder)
    else:
        longest = settings.model.max_tokens * _TOKEN_CHARS
        texts = _training_texts(source, choices, longest)
        train_tokenizer(texts, settings.model.vocabulary, folder)
    return load_encoder(folder)


def _training_texts(source: Source, choices: dict[str, Choice], longest: int) -> Iterator[str]:
    left = _TOKENIZER_CHARS
    for candidate in source():
        choice = choices[candidate.record_id]
        # One direction of two: both hold the same texts.
        used = choice.split == TRAIN and choice.verdict.outcome is Outcome.KEPT
        size = _size(candidate)
        if used and size <= longest and candidate.direction.source in ("cuda", "sass"):
            yield from (candidate.instruction, candidate.source, candidate.target)
            left -= size
        if left < 0:
            return


def _counted(
    source: Source, choices: dict[str, Choice], encoder: Encoder, max_tokens: int
) -> Iterator[_Counted]:
    """Every candidate with its token counts; what is out already is not counted."""
    longest = max_tokens * _NOT_COUNTED_CHARS
    for batch in batched(source(), _BATCH_ROWS):
        chosen = [(candidate, choices[candidate.record_id]) for candidate in batch]
        kept = [
            one
            for one, choice in chosen
            if choice.verdict.outcome is Outcome.KEPT and _size(one) <= longest
        ]
        prompts = encoder.prompts([(one.instruction, one.source) for one in kept])
        answers = encoder.answers([one.target for one in kept])
        counts = {
            one.record_id: (len(prompt), len(answer))
            for one, prompt, answer in zip(kept, prompts, answers, strict=True)
        }
        for candidate, choice in chosen:
            prompt, answer = counts.get(candidate.record_id, (None, None))
            if choice.verdict.outcome is Outcome.KEPT:
                tokens = prompt + answer if prompt and answer else None
                choice = Choice(choice.split, _length_verdict(tokens, _size(candidate), max_tokens))
            yield _Counted(candidate, choice, prompt, answer)


def _length_verdict(tokens: int | None, chars: int, max_tokens: int) -> Verdict:
    if tokens is not None and tokens <= max_tokens:
        return Verdict.kept()
    size = f"{chars} characters" if tokens is None else f"{tokens} tokens"
    return Verdict.because(Reason.TOO_MANY_TOKENS, f"{size}; the model reads {max_tokens} tokens")


def _size(candidate: Candidate) -> int:
    return len(candidate.source) + len(candidate.target)


def split_values(store: CorpusStore) -> Iterator[tuple[str, Iterator[tuple[str, str]]]]:
    """What must not stand in two splits: for each kind of thing, its splits and values."""
    path = records_file(training_folder(store))

    def values(column: str) -> Iterator[tuple[str, str]]:
        language = {"source": 0, "target": 2}.get(column)
        for batch in pq.ParquetFile(path).iter_batches(columns=["split", "direction", column]):
            for row in batch.to_pylist():
                value = row[column]
                if language is not None:
                    value = digest_of(row["direction"].split("_")[language], value)
                yield row["split"], value

    yield "cluster", values("cluster_id")
    yield "unit", values("unit_id")
    yield "text", chain(values("source"), values("target"))
