"""Sealing in a process of its own: what it takes of memory and of the processor's time is not the daemon's.

One request comes in on stdin, one answer a segment goes out on stdout. It may be killed at any instant.
"""

import os
import sys

import msgspec
from msgspec import Struct

from termvisor.capture.sealing import Sealed, Wish, seal
from termvisor.redaction import build, use
from termvisor.settings import load, nonce, places

_NICE = 10


class Request(Struct, frozen=True):
    wish: Wish
    segments: list[tuple[str, int]]
    """Folder and start of each."""


def command() -> list[str]:
    return [sys.executable, "-m", "termvisor.capture.seal_worker"]


def sealed(folder: str, start: int, wish: Wish) -> Sealed:
    """What came of one segment; what the disk refuses is told."""
    try:
        return seal(folder, start, wish)
    except FileNotFoundError:
        return Sealed()  # deleted meanwhile
    except OSError as error:
        return Sealed(trouble=f"{error.strerror}: {error.filename or folder}")


def main() -> None:
    os.nice(_NICE)
    where = places()
    settings = load(where)
    own = nonce(where.nonce_file)
    use(build(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir, nonce=own))
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    for folder, start in request.segments:
        sys.stdout.buffer.write(msgspec.json.encode(sealed(folder, start, request.wish)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
