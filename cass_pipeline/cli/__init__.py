"""`cass`: the package's functions on the command line."""

from cass_pipeline.cli.app import main

__all__ = ["main"]
