"""Agent checks: our hooks are installed, and running agents match the recorded versions, screens and signals."""

from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding, InstalledHooks

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
        "All running agents have versions with test recordings, their screens and dialogs are recognized, and none has"
        " stopped sending signals while its screen changes."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        drifts = await context.list_drifts()
        if drifts is None:
            return self.report("skip", "no daemon is running")
        if not drifts:
            return self.report("ok", "all running agents match their recordings")
        panes: dict[str, list[int]] = {}
        for drift in drifts:
            panes.setdefault(f"{drift.agent} {drift.description}", []).append(drift.pane)
        problems = [f"{what} (pane {', '.join(map(str, numbers))})" for what, numbers in panes.items()]
        return self.report("warn", "; ".join(problems), _DRIFT_HINT)
