"""Agent checks: our hooks are installed, and running agents match the recorded versions, screens and signals."""

from collections.abc import Iterable

from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding, InstalledHooks
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.ids import PaneId

_SETUP_HINT = "Run `visor setup agents` to install or update them; `--remove` removes them."
_DRIFT_HINT = (
    "States of such an agent may be unknown or late; `visor explain <pane>` shows their evidence. A newer Termvisor may"
    " support this version."
)


class AgentHooksCheck(BuiltinCheck):
    name = "agent_hooks"
    doc = (
        "The hooks of `visor setup agents` are installed and current in the settings of every installed agent, and the"
        " script that they run exists."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        hooks = context.inspect_hooks()
        if not hooks.files:
            return self.report("skip", "no supported agent is installed")
        problems = find_hook_problems(hooks)
        if problems:
            return self.report("warn", "; ".join(problems), _SETUP_HINT)
        names = ", ".join(file.agent for file in hooks.files)
        return self.report("ok", f"installed for {names}")


def find_hook_problems(installed_hooks: InstalledHooks) -> list[str]:
    """Return a description of each problem. A problem with the script counts only if an agent has hooks that run it."""
    files = installed_hooks.files
    descriptions = {"absent": "hooks not installed", "changed": "hooks outdated or changed"}
    problems = [
        f"{file.agent}: {descriptions[file.state]} ({file.path})" for file in files if file.state in descriptions
    ]
    problems += [file.detail for file in files if file.state == "unreadable"]
    has_hooks = any(file.state in ("current", "changed") for file in files)
    return ([installed_hooks.script_problem] if installed_hooks.script_problem and has_hooks else []) + problems


class AgentDriftCheck(BuiltinCheck):
    name = "agent_drift"
    doc = (
        "The version of every running agent is known and has test recordings, or lies between two that have; its"
        " screens and dialogs are recognized, and none has stopped sending signals while its screen changes."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        drifts, agents = await context.list_drifts(), await context.list_agents()
        if drifts is None or agents is None:
            return self.report("skip", "no daemon is running")
        problems = [(f"{drift.agent} {drift.description}", drift.pane) for drift in drifts]
        problems += [
            (f"{view.state.agent} {view.program.description}", view.state.pane)
            for view in agents
            if view.program.status == "unknown"
        ]
        if problems:
            return self.report("warn", "; ".join(_group_by_pane(problems)), _DRIFT_HINT)
        versions = _group_by_pane((_format_version(view), view.state.pane) for view in agents)
        listed = f": {', '.join(versions)}" if versions else ""
        return self.report("ok", f"all running agents match their recordings{listed}")


def _group_by_pane(findings: Iterable[tuple[str, PaneId]]) -> list[str]:
    """Return each text once, with all its panes."""
    panes: dict[str, list[int]] = {}
    for text, pane in findings:
        panes.setdefault(text, []).append(pane)
    return [f"{text} (pane {', '.join(map(str, numbers))})" for text, numbers in panes.items()]


def _format_version(view: AgentView) -> str:
    """Format as `codex 0.166.0`, or `gemini 0.50.0, between recorded versions`."""
    suffixes = {"between_recorded": ", between recorded versions", "no_recordings": ", without recordings"}
    version = f" {view.program.version}" if view.program.version else ""
    return f"{view.state.agent}{version}{suffixes.get(view.program.status, '')}"
