"""The check `packs`: every rule of every rule pack is valid and active."""

import asyncio

from termvisor.detection.packs.cache import load_cached_packs
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

_MAX_SHOWN_PROBLEMS = 3


class RulePacksCheck:
    name = "packs"
    doc = "Every rule pack can be loaded, and every rule in it passes its own examples and is active."

    async def run(self, context: CheckContext) -> CheckFinding:
        paths = context.paths
        packs = await asyncio.to_thread(load_cached_packs, paths.config_dir, context.settings, paths.cache_dir)
        if not packs.troubles:
            message = f"{len(packs.rules)} rules in {len(packs.packs)} packs are active"
            return CheckFinding(name=self.name, status="ok", message=message)
        shown = [str(problem) for problem in packs.troubles[:_MAX_SHOWN_PROBLEMS]]
        if len(packs.troubles) > _MAX_SHOWN_PROBLEMS:
            shown.append(f"and {len(packs.troubles) - _MAX_SHOWN_PROBLEMS} more")
        hint = "`visor rules lint` shows all errors; invalid rules are not active, all others are."
        return CheckFinding(name=self.name, status="warn", message="; ".join(shown), hint=hint)
