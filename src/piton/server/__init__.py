"""`piton serve`: a long-lived evaluator behind a JSON API, and its client (docs/serve.md)."""
