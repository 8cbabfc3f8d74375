"""Seal segments in a worker process, so that its memory and CPU time do not burden the daemon.

Reads one JSON request from stdin and writes one JSON result line for each segment to stdout. May be killed at any time.
"""

import os
import sys

import msgspec
from msgspec import Struct, field

from termvisor.capture.sealing import SealOptions, SealResult, seal_segment
from termvisor.redaction import build_rules, use_rules
from termvisor.settings import load_nonce, load_settings, resolve_paths

_NICE_INCREMENT = 10


class SealRequest(Struct, frozen=True):
    options: SealOptions = field(name="wish")
    segments: list[tuple[str, int]]
    """Folder and start offset of each segment."""


def build_command() -> list[str]:
    return [sys.executable, "-m", "termvisor.capture.seal_worker"]


def try_seal_segment(folder: str, start: int, options: SealOptions) -> SealResult:
    """Seal one segment and return its result, with the error text if the disk refuses."""
    try:
        return seal_segment(folder, start, options)
    except FileNotFoundError:
        return SealResult()  # deleted meanwhile
    except OSError as error:
        return SealResult(error=f"{error.strerror}: {error.filename or folder}")


def main() -> None:
    os.nice(_NICE_INCREMENT)
    paths = resolve_paths()
    settings = load_settings(paths)
    nonce = load_nonce(paths.nonce_file)
    use_rules(build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=nonce))
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=SealRequest)
    for folder, start in request.segments:
        sys.stdout.buffer.write(msgspec.json.encode(try_seal_segment(folder, start, request.options)) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
