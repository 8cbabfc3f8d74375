"""The check `packs`: every rule of every pack is in force."""

import asyncio

from termvisor.detection.packs.cache import load_kept
from termvisor.diagnostics.checks.check import Finding, Sight

_SHOWN = 3


class PacksLoad:
    name = "packs"
    doc = "Every rule pack can be read, and every rule in it is proven by its own texts and in force."

    async def look(self, sight: Sight) -> Finding:
        places = sight.places
        packs = await asyncio.to_thread(load_kept, places.config_dir, sight.settings, places.cache_dir)
        if not packs.troubles:
            message = f"{len(packs.rules)} rules of {len(packs.packs)} packs are in force"
            return Finding(name=self.name, status="ok", message=message)
        shown = [str(trouble) for trouble in packs.troubles[:_SHOWN]]
        if len(packs.troubles) > _SHOWN:
            shown.append(f"and {len(packs.troubles) - _SHOWN} more")
        hint = "`visor rules lint` says all; what is wrong is not in force, everything else is."
        return Finding(name=self.name, status="warn", message="; ".join(shown), hint=hint)
