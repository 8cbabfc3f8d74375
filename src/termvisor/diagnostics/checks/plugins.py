"""The check `plugins`: what other packages add can be loaded."""

import asyncio

from termvisor import agents, plugins
from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.redaction import redact

KINDS = ("agents", "packs", "workflows")


class PluginsLoad:
    name = "plugins"
    doc = "Every agent, rule pack and workflow that an installed package adds can be loaded."

    async def look(self, _sight: Sight) -> Finding:
        count, troubles = await asyncio.to_thread(_tried)
        if not troubles:
            message = f"all {count} that packages add can be loaded" if count else "no package adds any"
            return Finding(name=self.name, status="ok", message=message)
        hint = "Mend or uninstall its package, then restart the daemon; everything else works without it."
        return Finding(name=self.name, status="warn", message="; ".join(troubles), hint=hint)


def _tried() -> tuple[int, list[str]]:
    """How many are fine, and what is wrong with the others."""
    fine, troubles = 0, []
    for kind in KINDS:
        found, broken = plugins.read(kind)
        wrong = broken | {
            name: why for name, one in found.items() if kind == "agents" and (why := agents.complaint(one))
        }
        fine += len(found.keys() - wrong.keys())
        troubles += [redact(f"{kind} {name}: {why}") for name, why in sorted(wrong.items())]
    return fine, troubles
