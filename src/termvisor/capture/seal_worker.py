"""Sealing in a process of its own: what it takes of memory and of the processor's time is not the daemon's.

One request comes in on stdin, one answer a segment goes out on stdout. It may be killed at any instant.
"""

import os
import sys

import msgspec
from msgspec import Struct

from termvisor.capture.sealing import SealOptions, SealResult, seal_segment
from termvisor.redaction import build_rules, use_rules
from termvisor.settings import load_nonce, load_settings, resolve_paths

_NICE_INCREMENT = 10


class SealRequest(Struct, frozen=True):
    wish: SealOptions
    segments: list[tuple[str, int]]
    """Folder and start of each."""


def build_command() -> list[str]:
    return [sys.executable, "-m", "termvisor.capture.seal_worker"]


def try_seal_segment(folder: str, start: int, options: SealOptions) -> SealResult:
    """What came of one segment; what the disk refuses is told."""
    try:
        return seal_segment(folder, start, options)
    except FileNotFoundError:
        return SealResult()  # deleted meanwhile
    except OSError as error:
        return SealResult(error=f"{error.strerror}: {error.filename or folder}")


def main() -> None:
    os.nice(_NICE_INCREMENT)
    where = resolve_paths()
    settings = load_settings(where)
    own = load_nonce(where.nonce_file)
    use_rules(build_rules(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir, nonce=own))
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=SealRequest)
    for folder, start in request.segments:
        sys.stdout.buffer.write(msgspec.json.encode(try_seal_segment(folder, start, request.wish)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
