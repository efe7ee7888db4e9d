"""Agents: what asks models for kernels, searches among them, and keeps what was learned. Numbers come from Piton's evaluation only, never from a model."""
