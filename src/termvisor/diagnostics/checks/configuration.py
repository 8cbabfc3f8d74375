"""Configuration checks: settings, rule packs, plug-ins and optional programs."""

import asyncio
import os

from termvisor import plugins
from termvisor.agents.adapters import loader
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.detection.packs.loader import load_cached_packs
from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding
from termvisor.errors import ConfigError
from termvisor.model.action.readonly_program import ACCOUNT_USAGE, CODE_SEARCH, SESSION_BY_ID
from termvisor.redaction import redact
from termvisor.settings import find_old_forms, load_settings
from termvisor.system.files import find_trust_problem
from termvisor.system.subprocesses import is_installed
from termvisor.system.worker import run_worker

PLUGIN_KINDS = ("agents", "packs", "workflows")
_MAX_SHOWN_PROBLEMS = 3
_SLOW_PATTERN_HINT = (
    "Secrets are still redacted, by a slower engine; use shorter repeats in the pattern, `{1,99}` or `+`."
)


class ConfigCheck(BuiltinCheck):
    name = "config"
    doc = "The config file and the `VISOR_*` environment contain only known settings with valid values."

    async def run(self, context: CheckContext) -> CheckFinding:
        try:
            settings = load_settings(context.paths)
        except ConfigError as error:
            # The other checks use the default settings.
            return self.report("fail", error.message, error.hint)
        crashing = load_crashing_rules(context.paths.cache_dir)
        for pattern in settings.redact_patterns:
            if pattern in crashing:
                message = f"redact_patterns: {pattern!r} {crashing[pattern]}"
                return self.report("warn", message, _SLOW_PATTERN_HINT)
        if any(find_old_forms(context.paths.config_file)):
            message = f"{context.paths.config_file} has settings in an earlier form"
            return self.report("warn", message, "`visor config validate` shows the new form.")
        return self.report("ok", f"{context.paths.config_file} is valid")


class PolicyCheck(BuiltinCheck):
    name = "policy"
    doc = "The policy file is valid, and no other user can write it. While it is broken, nothing is allowed by itself."

    async def run(self, context: CheckContext) -> CheckFinding:
        path = context.paths.policy_file
        if problem := find_trust_problem(path):
            hint = f"No action is allowed. Make both yours alone: `chown $USER` and `chmod go-w` {path} and its folder."
            return self.report("fail", problem, hint)
        if not os.path.lexists(path):
            return self.report("ok", "there is no policy.toml; the defaults apply")
        # In a worker process, because parsing loads the pattern engines.
        done = await asyncio.to_thread(
            run_worker, "termvisor.policy.policy_file:check_policy_file", (path,), returns=type(None), timeout_s=60.0
        )
        if done.error:
            hint = f"Until it is valid, every action needs approval. {done.error.hint}"
            return self.report("fail", done.error.message, hint)
        return self.report("ok", f"{path} is valid")


class RulePacksCheck(BuiltinCheck):
    name = "packs"
    doc = "Every rule pack can be loaded, and every rule in it passes its own examples and is active."

    async def run(self, context: CheckContext) -> CheckFinding:
        paths = context.paths
        packs = await asyncio.to_thread(load_cached_packs, paths.config_dir, context.settings, paths.cache_dir)
        if not packs.troubles:
            return self.report("ok", f"{len(packs.rules)} rules in {len(packs.packs)} packs are active")
        shown = [str(problem) for problem in packs.troubles[:_MAX_SHOWN_PROBLEMS]]
        if len(packs.troubles) > _MAX_SHOWN_PROBLEMS:
            shown.append(f"and {len(packs.troubles) - _MAX_SHOWN_PROBLEMS} more")
        hint = "`visor rules lint` shows all errors; invalid rules are not active, all others are."
        return self.report("warn", "; ".join(shown), hint)


class PluginsCheck(BuiltinCheck):
    name = "plugins"
    doc = "Every agent, rule pack and workflow that an installed package adds can be loaded."

    async def run(self, _context: CheckContext) -> CheckFinding:
        count, problems = await asyncio.to_thread(_load_plugins)
        if not problems:
            return self.report("ok", f"{count} loaded" if count else "none installed")
        hint = "Fix or uninstall the package, then restart the daemon; everything else works without it."
        return self.report("warn", "; ".join(problems), hint)


def _load_plugins() -> tuple[int, list[str]]:
    """Return how many plug-ins can be loaded, and the problems of those that cannot."""
    count, problems = 0, []
    for kind in PLUGIN_KINDS:
        loaded, failed = plugins.read_plugins(kind)
        if kind == "agents":
            failed = failed | {
                name: why for name, adapter in loaded.items() if (why := loader.find_adapter_problem(adapter))
            }
        count += len(loaded.keys() - failed.keys())
        problems += [redact(f"{kind} {name}: {why}") for name, why in sorted(failed.items())]
    return count, problems


class ExternalProgramsCheck(BuiltinCheck):
    name = "programs"
    doc = "Lists the optional external programs that are installed, and what is unavailable without the others."

    async def run(self, context: CheckContext) -> CheckFinding:
        purposes = {CODE_SEARCH.program: CODE_SEARCH.purpose, SESSION_BY_ID.program: SESSION_BY_ID.purpose}
        if tracker := context.settings.account_tracker:
            purposes[tracker] = ACCOUNT_USAGE.purpose
        installed = [name for name in purposes if is_installed(name)]
        missing = [f"{name} ({purpose})" for name, purpose in purposes.items() if name not in installed]
        parts = [f"installed: {', '.join(installed)}"] if installed else []
        parts += [f"not installed (optional): {', '.join(missing)}"] if missing else []
        return self.report("ok", "; ".join(parts))
