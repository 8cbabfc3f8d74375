"""The check `programs`: which optional external programs are installed."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding
from termvisor.model.action.readonly_program import ACCOUNT_USAGE, CODE_SEARCH, SESSION_BY_ID
from termvisor.system.subprocesses import is_installed


class ExternalProgramsCheck:
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
        return CheckFinding(name=self.name, status="ok", message="; ".join(parts))
