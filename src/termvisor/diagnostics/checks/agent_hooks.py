"""The check `agent_hooks`: our hooks are in the agents' settings as they were set up, and what they run is there."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding, InstalledHooks

_SETUP_HINT = "`visor setup agents` shows the change and puts it right; `--remove` takes our hooks out."


class AgentHooksCheck:
    name = "agent_hooks"
    doc = (
        "The hooks of `visor setup agents` stand in the settings of every agent that is installed, as they would be"
        " set up now, and the program that they run is there."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        found = context.inspect_hooks()
        if not found.files:
            return CheckFinding(name=self.name, status="skip", message="no agent that we know is installed")
        wrong = find_hook_problems(found)
        if wrong:
            return CheckFinding(name=self.name, status="warn", message="; ".join(wrong), hint=_SETUP_HINT)
        names = ", ".join(one.agent for one in found.files)
        return CheckFinding(name=self.name, status="ok", message=f"{names}: set up")


def find_hook_problems(installed_hooks: InstalledHooks) -> list[str]:
    """Each in a few words; what the hooks run matters only where there are hooks."""
    words = {"absent": "has no hooks of ours", "changed": "has hooks of ours that were changed, or are of old"}
    wrong = [f"{one.agent} {words[one.state]} ({one.path})" for one in installed_hooks.files if one.state in words]
    wrong += [one.detail for one in installed_hooks.files if one.state == "unreadable"]
    has_hooks = any(one.state in ("current", "changed") for one in installed_hooks.files)
    return ([installed_hooks.script_problem] if installed_hooks.script_problem and has_hooks else []) + wrong
