"""Compile redaction patterns in a worker process, so that the compiler's memory is freed when it exits.

The result is cached on disk for later starts. The first start also waits a short time for the detection rules to be
compiled; if that succeeds, the slower fallback engine is not even loaded.
"""

import asyncio

from termvisor.detection.packs.crash_test import CrashTest, load_crashing_rules, save_crashing_rules
from termvisor.log import get_logger
from termvisor.redaction import RedactionRules, build_rules
from termvisor.regex.isolated_compile import IsolatedCompileRequest, compile_in_process
from termvisor.settings import Paths, Settings
from termvisor.system.shell_nonce import load_nonce
from termvisor.system.worker import run_isolated_worker

# Startup waits this long for detection rules; a longer compilation is repeated in the background. It takes 0.3 s of CPU
# time beside that of redaction, while the fallback engine costs 3 MB of memory that a running process cannot give back.
_RULES_TIMEOUT_S = 5.0
log = get_logger("daemon")


async def load_redaction_rules(paths: Paths, settings: Settings) -> RedactionRules:
    """Build the redaction rules and compile them if they are not in the cache."""
    nonce = load_nonce(paths.nonce_file)
    rules = build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=nonce)
    # Patterns that have crashed the compiler before would crash it again.
    crashes_compiler = not load_crashing_rules(paths.cache_dir).keys().isdisjoint(rules.custom_patterns.values())
    if not rules.is_compiled and not crashes_compiler:
        done, _ = await asyncio.gather(
            run_isolated_worker(f"{__name__}:compile_redaction_rules", (paths, settings), returns=str, timeout_s=60.0),
            run_isolated_worker(
                "termvisor.daemon.rules.active_rules:compile_quick_rules",
                (paths, settings),
                returns=type(None),
                timeout_s=_RULES_TIMEOUT_S,
            ),
        )
        if not rules.is_compiled:
            reason = "".join(done.values) or done.stderr or f"the worker exited with status {done.status}"
            log.warning("redaction uses the slower engine, because its patterns did not compile: %s", reason[-300:])
    return rules


def compile_redaction_rules(paths: Paths, settings: Settings) -> str:
    """Compile the rules into the cache; return the error, or an empty text. Runs in a worker process.

    The user's own patterns are first tried in another process, because some patterns crash Hyperscan.
    """
    folder = paths.cache_dir
    rules = build_rules(settings.redact_patterns, settings.redact_allow, cache=folder)
    request = IsolatedCompileRequest(patterns=rules.patterns, keep_in=folder)
    if rules.is_compiled or not rules.custom_patterns:
        return "" if rules.is_compiled else compile_in_process(request)
    custom_only = CrashTest().run_trial(IsolatedCompileRequest(patterns=rules.custom_patterns))
    if custom_only.why:
        pattern = rules.custom_patterns[custom_only.last]
        save_crashing_rules(folder, {pattern: custom_only.why})
        return f"redact_patterns {pattern!r} {custom_only.why}"
    result = CrashTest().run_trial(request)
    return result.why or "; ".join(result.refused.values())
