"""`python -m piton`: the command line."""

from piton.cli.start import run

run()
