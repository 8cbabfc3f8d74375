"""Compiles the patterns of the daemon in a process of its own, once: the compiler's memory goes with that process.

The result is cached on disk; a daemon that finds it there starts at once. At the very first start the rules in force
get a moment to be compiled as well: then the engine that would stand in for them is not even loaded.
"""

import asyncio
import os
import sys

from termvisor.daemon.rules.compile_job import Errand, heard
from termvisor.detection.packs.crash_test import condemned
from termvisor.log import logger
from termvisor.redaction import Rules, build
from termvisor.settings import Places, Settings, environment, nonce
from termvisor.system.subprocesses import ask, ask_apart

_RULES = "rules"
_RULES_FOR = 2.0
"""Seconds: what takes longer is done while the daemon is at work."""
log = logger("daemon")


async def warm_rules(where: Places, settings: Settings) -> Rules:
    """The rules of redaction, ready to be used without a pause."""
    own = nonce(where.nonce_file)
    rules = build(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir, nonce=own)
    is_hopeless = bool(rules.custom) and not condemned(where.cache_dir).keys().isdisjoint(rules.custom.values())
    if not rules.is_warm and not is_hopeless:
        command, told = [sys.executable, "-m", "termvisor.daemon.rules.precompile"], Errand(where, settings).told
        (status, _, errors), _ = await asyncio.gather(
            asyncio.to_thread(ask, command, stdin=told, timeout=60.0, env=environment()),
            ask_apart([*command, _RULES], stdin=told, timeout=_RULES_FOR if _has_time() else 0.0),
        )
        if status and not rules.is_warm:
            why = errors.decode("utf-8", "replace").strip()[-300:]
            log.warning("secrets are looked for by patterns that are not compiled yet, which is slower: %s", why)
    return rules


def _has_time() -> bool:
    """Whether the machine can do more than it does: else nobody is kept waiting."""
    return os.getloadavg()[0] < 2 * (os.cpu_count() or 1)


def main() -> None:
    from termvisor.daemon.rules.active_rules import compile_few

    where, settings = (errand := heard()).where, errand.settings
    if sys.argv[1:] == [_RULES]:
        compile_few(where, settings)
    elif fatal := _compile(
        build(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir), where.cache_dir
    ):
        sys.exit(fatal)


def _compile(rules: Rules, folder: str) -> str:
    """Keep them compiled, if Hyperscan survives them; else what is wrong."""
    from termvisor.detection.packs.crash_test import Ordeal, condemn, keep_here
    from termvisor.regex.isolated_compile_messages import Trial

    whole = Trial(patterns=rules.patterns, keep_in=folder)
    if rules.is_warm or not rules.custom:
        return "" if rules.is_warm else keep_here(whole)
    alone = Ordeal().end_of(Trial(patterns=rules.custom))
    if alone.why:
        condemn(folder, {rules.custom[alone.last]: alone.why})
        return f"redact_patterns {rules.custom[alone.last]!r} {alone.why}"
    together = Ordeal().end_of(whole)
    return together.why or "; ".join(together.refused.values())


if __name__ == "__main__":
    main()
