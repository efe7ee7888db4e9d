"""No benchmark."""
