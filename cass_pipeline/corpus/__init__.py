"""From verified pairs to a published dataset: deduplication, validation, release, Hub."""
