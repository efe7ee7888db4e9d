"""Adapters: suites of other benchmarks and of users. Found and listed by their files alone; nothing of them runs here."""

from piton.catalog.adapters.recognise import Found, find_suite, format_names
from piton.catalog.adapters.user_suite import write_user_suite

__all__ = ["Found", "find_suite", "format_names", "write_user_suite"]
