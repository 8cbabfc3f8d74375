"""Compile redaction patterns in a separate process, so that the compiler's memory is freed when it exits.

The result is cached on disk for later starts. At the first start the detection rules get a short time to be compiled
too: if that succeeds, the slower fallback engine is not even loaded.
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
"""The start waits this long for detection rules; a longer compilation is repeated in the background."""
log = get_logger("daemon")


async def load_redaction_rules(paths: Paths, settings: Settings) -> RedactionRules:
    """Build the redaction rules and compile them if they are not in the cache."""
    nonce = load_nonce(paths.nonce_file)
    rules = build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir, nonce=nonce)
    # Patterns that crashed the compiler once would crash it again.
    crashes_compiler = not load_crashing_rules(paths.cache_dir).keys().isdisjoint(rules.custom_patterns.values())
    if not rules.is_compiled and not crashes_compiler:
        command = [sys.executable, "-m", "termvisor.daemon.rules.precompile"]
        job = CompileJob(paths, settings).encode()
        rules_timeout_s = _RULES_TIMEOUT_S if _has_idle_cpu() else 0.0
        (status, _, errors), _ = await asyncio.gather(
            asyncio.to_thread(run_and_capture, command, stdin=job, timeout_s=60.0, env=get_environment()),
            run_isolated([*command, _RULES_OPTION], stdin=job, timeout_s=rules_timeout_s),
        )
        if status and not rules.is_compiled:
            detail = errors.decode("utf-8", "replace").strip()[-300:]
            log.warning("redaction uses the slower engine, because its patterns did not compile: %s", detail)
    return rules


def _has_idle_cpu() -> bool:
    """Return True if the load is low enough for the start to wait for detection rules."""
    return os.getloadavg()[0] < 2 * (os.cpu_count() or 1)


def main() -> None:
    from termvisor.daemon.rules.active_rules import compile_quick_rules

    job = read_compile_job()
    paths, settings = job.paths, job.settings
    if sys.argv[1:] == [_RULES_OPTION]:
        compile_quick_rules(paths, settings)
    elif error := _compile_redaction_rules(
        build_rules(settings.redact_patterns, settings.redact_allow, cache=paths.cache_dir), paths.cache_dir
    ):
        sys.exit(error)


def _compile_redaction_rules(rules: RedactionRules, folder: str) -> str:
    """Compile the rules into the cache; return the error, empty if there is none.

    The user's own patterns are tried first in another process: some patterns crash Hyperscan.
    """
    from termvisor.detection.packs.crash_test import CrashTest, compile_in_process, save_crashing_rules
    from termvisor.regex.isolated_compile_messages import IsolatedCompileRequest

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


if __name__ == "__main__":
    main()
