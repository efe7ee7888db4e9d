"""Not tests."""
