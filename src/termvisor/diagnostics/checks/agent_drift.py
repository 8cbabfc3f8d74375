"""The check `agent_drift`: the agents that live are those that we know, and still speak as they used to."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

_DRIFT_HINT = (
    "`visor explain <pane>` says what each state rests on; states of such an agent may be unknown, or come later. A"
    " newer Termvisor may know this version."
)


class AgentDriftCheck:
    name = "agent_drift"
    doc = (
        "The agents that live have versions of which we have recordings, their screens and dialogs are recognised, and"
        " none has fallen silent while its screen goes on."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        found = await context.list_drifts()
        if found is None:
            return CheckFinding(name=self.name, status="skip", message="no daemon is running")
        if not found:
            return CheckFinding(name=self.name, status="ok", message="every agent that lives is as it was recorded")
        panes: dict[str, list[int]] = {}
        for one in found:
            panes.setdefault(f"{one.agent} {one.description}", []).append(one.pane)
        told = [f"{what} (pane {', '.join(map(str, where))})" for what, where in panes.items()]
        return CheckFinding(name=self.name, status="warn", message="; ".join(told), hint=_DRIFT_HINT)
