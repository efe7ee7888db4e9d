"""Catalog: the only owner of file formats."""

from piton.catalog.metadata import QuotedAnchors, load_metadata
from piton.catalog.schema import Argument, Schema, parse_schema
from piton.catalog.submission import list_binaries, read_submission
from piton.catalog.suite import load_suite, suite_names

__all__ = ["Argument", "QuotedAnchors", "Schema", "list_binaries", "load_metadata", "load_suite", "parse_schema", "read_submission", "suite_names"]
