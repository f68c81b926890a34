"""The dataset card (`README.md`) of a release, generated from what the release holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

import pyarrow as pa

from cass_pipeline.corpus.facts import Facts
from cass_pipeline.corpus.levels import LEVELS
from cass_pipeline.corpus.notices import one_line
from cass_pipeline.corpus.suites import Suite

SUMMARY = (
    "Pairs of NVIDIA and AMD GPU code: CUDA and HIP source, SASS and RDNA3 assembly. Both sides "
    "of a pair were compiled at the same optimisation level; each pair says how far it was "
    "verified by running both sides on the same inputs and comparing the results."
)
# Upper bounds and names of the Hub's size categories.
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


# The line of `card.md` that a date is added to.
_VERSION = re.compile(r"^(Version \S+, schema \d+\.).*$", re.MULTILINE)


@dataclass(frozen=True)
class FunnelStage:
    """What one stage did with the rows it was given; `given` is the sum of the others."""

    stage: str
    given: int
    kept: int
    filtered: int
    failed: int


@dataclass(frozen=True)
class Column:
    """One column of a configuration."""

    name: str
    type: str
    description: str


@dataclass(frozen=True)
class Config:
    """One configuration of the dataset."""

    name: str
    row: str
    rows: int
    shards: int
    columns: tuple[Column, ...]
    default: bool


@dataclass(frozen=True)
class CardInputs:
    """Everything a card says."""

    title: str
    version: str
    schema_version: int
    homepage: str
    """Address for people, or empty."""
    configs: tuple[Config, ...]
    facts: Facts
    funnel: Sequence[FunnelStage]
    suites: Sequence[Suite]


def dataset_card(inputs: CardInputs) -> str:
    """The card as Markdown, with the YAML head that `load_dataset` and the Hub read."""
    import jinja2
    from huggingface_hub import DatasetCard, DatasetCardData

    data = DatasetCardData(
        pretty_name=inputs.title,
        # Rows differ; the Hub's list has no expression for that.
        license="other",
        license_name="per-row",
        license_link="LICENSES",
        size_categories=[size_category(inputs.configs[0].rows)],
        task_categories=["text-generation"],
        tags=["code", "cuda", "hip", "gpu", "assembly", "translation"],
        configs=[
            {
                "config_name": config.name,
                "data_files": [{"split": "train", "path": f"data/{config.name}/train-*.parquet"}],
                **({"default": True} if config.default else {}),
            }
            for config in inputs.configs
        ],
    )
    environment = jinja2.Environment(
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 - the result is Markdown; `cell` escapes what is from outside
    )
    environment.filters["cell"] = cell
    template = environment.from_string(
        files("cass_pipeline.corpus").joinpath("card.md").read_text(encoding="utf-8")
    )
    text = template.render(vars(inputs), card_data=data.to_yaml(), levels=LEVELS, summary=SUMMARY)
    # Reading it back makes sure that its head is what the Hub can read.
    return str(DatasetCard(text).content)


def dated(card: str, tag: str, day: date) -> str:
    """A card that says which release it belongs to, and until when removals are honoured."""
    statement = (
        f" Release `{tag}` of {day.day} {day:%B %Y}; `CHANGELOG.md` says what is new. Code whose "
        "authors had opted out by that day is not in it: use the newest release."
    )
    return _VERSION.sub(lambda found: found[1] + statement, card, count=1)


def described(schema: pa.Schema, descriptions: Mapping[str, str]) -> tuple[Column, ...]:
    """The columns of a schema with their descriptions."""
    return tuple(
        Column(field.name, type_name(field.type), descriptions[field.name]) for field in schema
    )


def type_name(kind: pa.DataType) -> str:
    """An Arrow type as readers of a card know it; storage variants (`large_`) are left out."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list<{type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = ", ".join(f"{field.name}: {type_name(field.type)}" for field in kind)
        return f"struct<{fields}>"
    return str(kind).removeprefix("large_")


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows."""
    return next((name for limit, name in _SIZES if rows < limit), "n>10M")


def cell(text: str | None) -> str:
    """Text as it may stand in a cell of a Markdown table."""
    return one_line(text).replace("|", "\\|").replace("`", "'").replace("<", "&lt;")
