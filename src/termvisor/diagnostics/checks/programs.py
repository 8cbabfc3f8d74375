"""The check `programs`: which programs of others can be asked. None of them is needed."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.model.action.readonly_program import ACCOUNT_USAGE, CODE_SEARCH, SESSION_BY_ID
from termvisor.system.subprocesses import is_installed


class ExternalProgramsCheck:
    name = "programs"
    doc = "Which programs of others are there to be asked, and what is not told without the others; none is needed."

    async def run(self, context: CheckContext) -> CheckFinding:
        wanted = {CODE_SEARCH.program: CODE_SEARCH.purpose, SESSION_BY_ID.program: SESSION_BY_ID.purpose}
        if tracker := context.settings.account_tracker:
            wanted[tracker] = ACCOUNT_USAGE.purpose
        there = [name for name in wanted if is_installed(name)]
        missing = [f"{name} ({serves})" for name, serves in wanted.items() if name not in there]
        told = [f"found: {', '.join(there)}"] if there else []
        told += [f"not installed, and not needed: {', '.join(missing)}"] if missing else []
        return CheckFinding(name=self.name, status="ok", message="; ".join(told))
