"""The check `programs`: which programs of others can be asked. None of them is needed."""

from termvisor.diagnostics.checks.check import Finding, Sight
from termvisor.model.action.readonly_program import CODE, HISTORY_BY_ID, USAGE
from termvisor.system.subprocesses import is_installed


class ProgramsAreKnown:
    name = "programs"
    doc = "Which programs of others are there to be asked, and what is not told without the others; none is needed."

    async def look(self, sight: Sight) -> Finding:
        wanted = {CODE.program: CODE.serves, HISTORY_BY_ID.program: HISTORY_BY_ID.serves}
        if tracker := sight.settings.account_tracker:
            wanted[tracker] = USAGE.serves
        there = [name for name in wanted if is_installed(name)]
        missing = [f"{name} ({serves})" for name, serves in wanted.items() if name not in there]
        told = [f"found: {', '.join(there)}"] if there else []
        told += [f"not installed, and not needed: {', '.join(missing)}"] if missing else []
        return Finding(name=self.name, status="ok", message="; ".join(told))
