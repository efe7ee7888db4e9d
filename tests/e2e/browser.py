"""Headless Chromium for tests of pages: opens a page in frames of given widths, runs a probe in each, returns what it found and what the console said."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DEADLINE_S = 90
"""A hung browser fails its test; a page takes about a second."""
DARK, LIGHT = 0, 1
"""Chromium's numbers of the preferred colour schemes."""
_FRAME = '<iframe class="page" style="width:{width}px;height:900px;border:0" srcdoc="{page}"></iframe>'
_WRAPPER = """<!DOCTYPE html><meta charset="utf-8"><body>{frames}<script>
window.hacked = 0;
addEventListener("load", async () => {{
  const probe = {probe};
  const found = [];
  for (const frame of document.querySelectorAll("iframe.page")) {{
    try {{ found.push(await probe(frame.contentWindow, frame.contentDocument)); }} catch (error) {{ found.push({{ error: String(error) }}); }}
  }}
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify({{ hacked: window.hacked, frames: found }});
  document.body.replaceChildren(result);
}});
</script></body>"""


@dataclass(frozen=True)
class Seen:
    """What a probe returned for each frame, whether a script of the page's data ran, and errors of the console."""

    frames: list[dict[str, Any]]
    hacked: int
    console: list[str]


def find_browser() -> str | None:
    """The program, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def look_at(page: str, probe: str, folder: Path, *, widths: tuple[int, ...] = (1280, 390), scheme: int = LIGHT) -> Seen:
    """Run the JavaScript function `probe(window, document)`, which may be async, on `page` in a frame of each width.

    `window.hacked` of the wrapper is 0 until a script that came with the page's data sets it.
    """
    file = folder / "wrapper.html"
    frames = "".join(_FRAME.format(width=width, page=html.escape(page)) for width in widths)
    file.write_text(_WRAPPER.format(frames=frames, probe=probe), encoding="utf-8")
    output, errors = _run(file, folder, scheme)
    found = re.search(r'<pre id="result">(.*?)</pre>', output, flags=re.S)
    assert found, f"the probe did not end: {errors[-2000:]}"
    result = json.loads(html.unescape(found[1]))
    return Seen(result["frames"], result["hacked"], [line for line in errors.splitlines() if "CONSOLE" in line])


def _run(file: Path, folder: Path, scheme: int) -> tuple[str, str]:
    """Output and log of one browser, which is gone when this returns."""
    browser = find_browser()
    assert browser
    command = [browser, "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars"]
    command += ["--no-sandbox"] if os.geteuid() == 0 else []  # root can't have Chromium's own sandbox
    command += [f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", f"--blink-settings=preferredColorScheme={scheme}"]
    command += ["--window-size=1400,900", "--virtual-time-budget=20000", "--dump-dom", file.as_uri()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        return process.communicate(timeout=DEADLINE_S)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
