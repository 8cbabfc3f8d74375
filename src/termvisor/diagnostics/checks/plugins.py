"""The check `plugins`: what other packages add can be loaded."""

import asyncio

from termvisor import agents, plugins
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.redaction import redact

PLUGIN_KINDS = ("agents", "packs", "workflows")


class PluginsCheck:
    name = "plugins"
    doc = "Every agent, rule pack and workflow that an installed package adds can be loaded."

    async def run(self, _context: CheckContext) -> CheckFinding:
        count, troubles = await asyncio.to_thread(_load_plugins)
        if not troubles:
            message = f"all {count} that packages add can be loaded" if count else "no package adds any"
            return CheckFinding(name=self.name, status="ok", message=message)
        hint = "Mend or uninstall its package, then restart the daemon; everything else works without it."
        return CheckFinding(name=self.name, status="warn", message="; ".join(troubles), hint=hint)


def _load_plugins() -> tuple[int, list[str]]:
    """How many are fine, and what is wrong with the others."""
    fine, troubles = 0, []
    for kind in PLUGIN_KINDS:
        found, broken = plugins.read_plugins(kind)
        wrong = broken | {
            name: why for name, one in found.items() if kind == "agents" and (why := agents.find_adapter_problem(one))
        }
        fine += len(found.keys() - wrong.keys())
        troubles += [redact(f"{kind} {name}: {why}") for name, why in sorted(wrong.items())]
    return fine, troubles
