"""Settings of the remote cache, by the environment: where it is, and what may be done there.

Invariant: what the address holds of users, passwords and tokens is never shown, also not in words
of libraries that repeat it.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

URL, MODE, TIMEOUT = (
    "TRIPYBUILD_REMOTE_CACHE",
    "TRIPYBUILD_REMOTE_CACHE_MODE",
    "TRIPYBUILD_REMOTE_CACHE_TIMEOUT",
)
READ, READ_WRITE = "read", "read-write"
SECONDS = 10.0
LONGEST_TIMEOUT = 3600.0
LONGEST_REASON = 200  # characters of what a library says
ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"<>]+")


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A remote cache.

    Args:
        url: Its address.
        can_write: Whether what is made here is added to it.
        timeout: Seconds that it may take to answer.
    """

    url: str
    can_write: bool = False
    timeout: float = SECONDS

    @property
    def protocol(self) -> str:
        """The scheme of the address; a bare path is a folder."""
        return self.url.partition("://")[0].lower() if "://" in self.url else "file"

    @property
    def mode(self) -> str:
        """What may be done there, as the environment says it."""
        return READ_WRITE if self.can_write else READ

    @property
    def shown(self) -> str:
        """The address without what is secret in it."""
        if "://" not in self.url:
            return self.url
        return _shown_address(self.url)

    def reason(self, error: BaseException) -> str:
        """What is wrong, as one line without secrets and without what a terminal obeys."""
        status = getattr(error, "status", None)
        if isinstance(error, TimeoutError):
            return "it does not answer"
        if isinstance(status, int):
            return f"it answers with HTTP status {status}"
        if isinstance(error, OSError) and error.strerror:
            text = str(error.strerror)
        else:
            text = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(": ")
        text = ADDRESS.sub(lambda found: _shown_address(found[0]), text)
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return "".join(each for each in text if each.isprintable())[:LONGEST_REASON]

    def _secrets(self) -> list[str]:
        """What must not be shown, the longest first."""
        found = _split(self.url)
        user, _, place = found.netloc.rpartition("@")
        written = {user, *user.split(":", 1), found.query, found.fragment}
        written |= {each.partition("=")[2] for each in found.query.split("&")}
        both = {text for each in written for text in (each, unquote(each))}
        return sorted((each for each in both if len(each) > 2 and each != place), key=len)[::-1]


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # a bracket that does not close: all of it may be secret
        return SplitResult("", "", "", url, "")


def _shown_address(url: str) -> str:
    found = _split(url)
    if not found.scheme:
        return "an address that is malformed"
    return found._replace(netloc=found.netloc.rpartition("@")[2], query="", fragment="").geturl()


def remote_settings() -> RemoteSettings | None:
    """What the environment says of a remote cache; None where it names none.

    Raises:
        DiagnosticError: A value is not one that the variable takes.
    """
    url = os.environ.get(URL, "").strip()
    if not url:
        return None
    mode = os.environ.get(MODE, "") or READ
    if mode not in {READ, READ_WRITE}:
        message = f"`{MODE}` is `{mode}`"
        raise _wrong_value(message, f"it is `{READ}` or `{READ_WRITE}`")
    text = os.environ.get(TIMEOUT, "") or str(SECONDS)
    try:
        timeout = float(text)
    except ValueError:
        timeout = 0.0
    if not 0 < timeout <= LONGEST_TIMEOUT:
        message = f"`{TIMEOUT}` is `{text}`"
        raise _wrong_value(message, f"it is a number of seconds, up to {LONGEST_TIMEOUT:.0f}")
    if "::" in url or not url.isprintable():
        message = f"`{URL}` is not an address of one store"
        raise _wrong_value(message, "such as s3://bucket/folder, https://host/folder or a path")
    if "://" not in url and not Path(url).is_absolute():
        message = f"`{URL}` is the relative path `{url}`"
        raise _wrong_value(message, "write all of it: jobs of a build run in other folders")
    return RemoteSettings(url, mode == READ_WRITE, timeout)


def _wrong_value(message: str, hint: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
