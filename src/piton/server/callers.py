"""Who is calling: by token where there is a token file, else by address, which is then the machine's own.

Without tokens the server listens on the loopback only, and a request has to name that host: a web page that a person on this machine has open can reach the
loopback, under whatever name its owner gave it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from pathlib import Path

from piton.core.errors import UsageError
from piton.server.refusal import RefusedError

_LEAST_TOKEN = 16
_NAME = re.compile(r"[\w.@-]{1,64}", re.ASCII)


class Callers:
    """Tells clients apart; holds digests of tokens, not the tokens."""

    def __init__(self, digests: dict[str, bytes]) -> None:
        """`digests` are SHA-256 of tokens by name of the client; empty for a server without tokens."""
        self._digests = digests

    def identify(self, authorization: str, address: str, host: str) -> str:
        """Name of the client behind a request: from `Authorization: Bearer TOKEN`, else its address. Raises RefusedError (401, 403)."""
        if not self._digests:
            _check_host(host)
            return address
        given = hashlib.sha256(authorization.removeprefix("Bearer ").strip().encode(errors="surrogateescape")).digest()
        found = [name for name, known in self._digests.items() if hmac.compare_digest(given, known)]
        if not found:
            action = "send the header `Authorization: Bearer TOKEN` with a token of this server"
            raise RefusedError(
                401, "this server wants a token", expected="a token that it knows", found="another one" if authorization else "none", action=action
            )
        return found[0]


def read_callers(token_file: str, host: str) -> Callers:
    """The clients in a token file, one `name token` a line; without a file those of this machine.

    Raises UsageError for a wrong file, one that others can read, and for an address that others reach without a file.
    """
    if not token_file:
        if not is_loopback(host):
            action = "add --tokens FILE, or listen on 127.0.0.1"
            raise UsageError("a server that others can reach needs tokens", found=f"--host {host} without --tokens", action=action)
        return Callers({})
    path = Path(token_file).expanduser()
    try:
        is_open, text = bool(path.stat().st_mode & 0o077), path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError("the token file can't be read", where=token_file, found=str(error), action="check --tokens") from None
    if is_open:
        raise UsageError("the token file is open to others", where=token_file, expected="mode 600", action=f"chmod 600 {token_file}")
    return Callers(_parse(text, token_file))


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _parse(text: str, where: str) -> dict[str, bytes]:
    digests: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or not _NAME.fullmatch(words[0]) or len(words[1]) < _LEAST_TOKEN or words[0] in digests:
            expected = f"`name token`, each name once, tokens of at least {_LEAST_TOKEN} characters"
            raise UsageError("a line of the token file can't be read", expected=expected, where=f"{where}:{number}", action="correct that line")
        digests[words[0]] = hashlib.sha256(words[1].encode()).digest()
    if not digests:
        raise UsageError("the token file has no token", where=where, expected="one `name token` a line", action="add one, or leave --tokens out")
    return digests


def _check_host(host: str) -> None:
    name = host.rsplit(":", 1)[0] if re.search(r":\d*$", host) else host
    if not is_loopback(name.strip("[]")):
        raise RefusedError(403, "this server answers this machine only", expected="Host: 127.0.0.1 or localhost", found=ascii(host)[:80])
