"""`piton calibrate`: constants of a hardware file fitted to a profile."""
