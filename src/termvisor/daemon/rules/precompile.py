"""Compiles the patterns of the daemon in a process of its own, once: the compiler's memory goes with that process.

The result is cached on disk; a daemon that finds it there starts at once. At the very first start the rules in force
get a moment to be compiled as well: then the engine that would stand in for them is not even loaded.
"""

import asyncio
import os
import sys

from termvisor.daemon.rules.compile_job import CompileJob, read_compile_job
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.log import get_logger
from termvisor.redaction import RedactionRules, build_rules
from termvisor.settings import Paths, Settings, get_environment, load_nonce
from termvisor.system.subprocesses import run_and_capture, run_isolated

_RULES_OPTION = "rules"
_RULES_TIMEOUT_S = 2.0
"""Seconds: what takes longer is done while the daemon is at work."""
log = get_logger("daemon")


async def load_redaction_rules(paths: Paths, settings: Settings) -> RedactionRules:
    """The rules of redaction, ready to be used without a pause."""
    own = load_nonce(paths.nonce_file)
    rules = build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=own)
    is_hopeless = bool(rules.custom_patterns) and not load_crashing_rules(paths.cache_dir).keys().isdisjoint(
        rules.custom_patterns.values()
    )
    if not rules.is_compiled and not is_hopeless:
        command, told = [sys.executable, "-m", "termvisor.daemon.rules.precompile"], CompileJob(paths, settings).encoded
        (status, _, errors), _ = await asyncio.gather(
            asyncio.to_thread(run_and_capture, command, stdin=told, timeout_s=60.0, env=get_environment()),
            run_isolated([*command, _RULES_OPTION], stdin=told, timeout_s=_RULES_TIMEOUT_S if _has_idle_cpu() else 0.0),
        )
        if status and not rules.is_compiled:
            why = errors.decode("utf-8", "replace").strip()[-300:]
            log.warning("secrets are looked for by patterns that are not compiled yet, which is slower: %s", why)
    return rules


def _has_idle_cpu() -> bool:
    """Whether the machine can do more than it does: else nobody is kept waiting."""
    return os.getloadavg()[0] < 2 * (os.cpu_count() or 1)


def main() -> None:
    from termvisor.daemon.rules.active_rules import compile_quick_rules

    where, settings = (errand := read_compile_job()).where, errand.settings
    if sys.argv[1:] == [_RULES_OPTION]:
        compile_quick_rules(where, settings)
    elif fatal := _compile_redaction_rules(
        build_rules(settings.redact_patterns, settings.redact_allow, cache=where.cache_dir), where.cache_dir
    ):
        sys.exit(fatal)


def _compile_redaction_rules(rules: RedactionRules, folder: str) -> str:
    """Keep them compiled, if Hyperscan survives them; else what is wrong."""
    from termvisor.detection.packs.crash_test import CrashTest, compile_in_process, save_crashing_rules
    from termvisor.regex.isolated_compile_messages import IsolatedCompileRequest

    whole = IsolatedCompileRequest(patterns=rules.patterns, keep_in=folder)
    if rules.is_compiled or not rules.custom_patterns:
        return "" if rules.is_compiled else compile_in_process(whole)
    alone = CrashTest().run_trial(IsolatedCompileRequest(patterns=rules.custom_patterns))
    if alone.why:
        save_crashing_rules(folder, {rules.custom_patterns[alone.last]: alone.why})
        return f"redact_patterns {rules.custom_patterns[alone.last]!r} {alone.why}"
    together = CrashTest().run_trial(whole)
    return together.why or "; ".join(together.refused.values())


if __name__ == "__main__":
    main()
