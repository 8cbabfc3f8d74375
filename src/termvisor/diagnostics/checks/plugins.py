"""The check `plugins`: the plug-ins of installed packages can be loaded."""

import asyncio

from termvisor import plugins
from termvisor.agents.adapters import loader
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.redaction import redact

PLUGIN_KINDS = ("agents", "packs", "workflows")


class PluginsCheck:
    name = "plugins"
    doc = "Every agent, rule pack and workflow that an installed package adds can be loaded."

    async def run(self, _context: CheckContext) -> CheckFinding:
        count, problems = await asyncio.to_thread(_load_plugins)
        if not problems:
            message = f"{count} loaded" if count else "none installed"
            return CheckFinding(name=self.name, status="ok", message=message)
        hint = "Fix or uninstall the package, then restart the daemon; everything else works without it."
        return CheckFinding(name=self.name, status="warn", message="; ".join(problems), hint=hint)


def _load_plugins() -> tuple[int, list[str]]:
    """Return the number of loadable plug-ins, and the problems of the others."""
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
