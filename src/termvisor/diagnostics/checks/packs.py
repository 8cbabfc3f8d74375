"""The check `packs`: every rule of every pack is in force."""

import asyncio

from termvisor.detection.packs.cache import load_cached_packs
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

_MAX_SHOWN_PROBLEMS = 3


class RulePacksCheck:
    name = "packs"
    doc = "Every rule pack can be read, and every rule in it is proven by its own texts and in force."

    async def run(self, context: CheckContext) -> CheckFinding:
        places = context.paths
        packs = await asyncio.to_thread(load_cached_packs, places.config_dir, context.settings, places.cache_dir)
        if not packs.troubles:
            message = f"{len(packs.rules)} rules of {len(packs.packs)} packs are in force"
            return CheckFinding(name=self.name, status="ok", message=message)
        shown = [str(trouble) for trouble in packs.troubles[:_MAX_SHOWN_PROBLEMS]]
        if len(packs.troubles) > _MAX_SHOWN_PROBLEMS:
            shown.append(f"and {len(packs.troubles) - _MAX_SHOWN_PROBLEMS} more")
        hint = "`visor rules lint` says all; what is wrong is not in force, everything else is."
        return CheckFinding(name=self.name, status="warn", message="; ".join(shown), hint=hint)
