"""Curate: what makes a suite good. Lint of its rules, generated public cases, hidden cases from a secret key."""
