"""Compiles the patterns of the daemon in a process of its own, once: the compiler's memory goes with that process.

The result is cached on disk; a daemon that finds it there starts at once.
"""

import asyncio
import sys

from termvisor.log import logger
from termvisor.redact import Rules, build
from termvisor.settings import Places, Settings, environment, load, nonce, places
from termvisor.spawn import ask

log = logger("daemon")


async def warm_rules(where: Places, settings: Settings) -> Rules:
    """The rules of redaction, ready to be used without a pause."""
    own = nonce(where.nonce_file)
    rules = build(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir, nonce=own)
    if not rules.is_warm:
        command = [sys.executable, "-m", "termvisor.daemon.warm"]
        status, _, errors = await asyncio.to_thread(ask, command, timeout=60.0, env=environment())
        if status:
            log.warning(
                "patterns are compiled in the daemon itself: %s", errors.decode("utf-8", "replace").strip()[-300:]
            )
    return rules


def main() -> None:
    where = places()
    settings = load(where)
    build(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir).scan("")


if __name__ == "__main__":
    main()
