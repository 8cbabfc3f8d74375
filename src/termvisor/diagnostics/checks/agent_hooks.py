"""The check `agent_hooks`: our hooks are installed and current in the settings of all installed agents."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding, InstalledHooks

_SETUP_HINT = "Run `visor setup agents` to install or update them; `--remove` removes them."


class AgentHooksCheck:
    name = "agent_hooks"
    doc = (
        "The hooks of `visor setup agents` are installed and current in the settings of every installed agent, and the"
        " script that they run exists."
    )

    async def run(self, context: CheckContext) -> CheckFinding:
        hooks = context.inspect_hooks()
        if not hooks.files:
            return CheckFinding(name=self.name, status="skip", message="no supported agent is installed")
        problems = find_hook_problems(hooks)
        if problems:
            return CheckFinding(name=self.name, status="warn", message="; ".join(problems), hint=_SETUP_HINT)
        names = ", ".join(file.agent for file in hooks.files)
        return CheckFinding(name=self.name, status="ok", message=f"installed for {names}")


def find_hook_problems(installed_hooks: InstalledHooks) -> list[str]:
    """Describe each problem; a problem of the script counts only if an agent runs it."""
    files = installed_hooks.files
    descriptions = {"absent": "hooks not installed", "changed": "hooks outdated or changed"}
    problems = [
        f"{file.agent}: {descriptions[file.state]} ({file.path})" for file in files if file.state in descriptions
    ]
    problems += [file.detail for file in files if file.state == "unreadable"]
    has_hooks = any(file.state in ("current", "changed") for file in files)
    return ([installed_hooks.script_problem] if installed_hooks.script_problem and has_hooks else []) + problems
