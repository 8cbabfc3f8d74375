"""The check `agent_drift`: running agents match the recorded versions, screens and signals."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

_DRIFT_HINT = (
    "States of such an agent may be unknown or late; `visor explain <pane>` shows their evidence. A newer Termvisor may"
    " support this version."
)


class AgentDriftCheck:
    name = "agent_drift"
    doc = (
        "All running agents have versions with test recordings, their screens and dialogs are recognized, and none has"
        " stopped sending signals while its screen changes."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        drifts = await context.list_drifts()
        if drifts is None:
            return CheckFinding(name=self.name, status="skip", message="no daemon is running")
        if not drifts:
            return CheckFinding(name=self.name, status="ok", message="all running agents match their recordings")
        panes: dict[str, list[int]] = {}
        for drift in drifts:
            panes.setdefault(f"{drift.agent} {drift.description}", []).append(drift.pane)
        problems = [f"{what} (pane {', '.join(map(str, numbers))})" for what, numbers in panes.items()]
        return CheckFinding(name=self.name, status="warn", message="; ".join(problems), hint=_DRIFT_HINT)
