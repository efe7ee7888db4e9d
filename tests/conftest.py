"""For all suites: signals are as in a terminal.

A shell that starts tests in the background has SIGINT ignored, and every program that a test starts would inherit that and could not be stopped by it.
"""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
