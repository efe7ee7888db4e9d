"""No golden."""
