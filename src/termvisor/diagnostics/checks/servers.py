"""The check `servers`: every watched tmux server responds."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class ServersCheck:
    name = "servers"
    doc = "Every watched tmux server responds."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            return CheckFinding(name=self.name, status="skip", message="no daemon is running")
        failing = [server.socket for server in health.servers if not server.mux_ok]
        if failing:
            hint = "Check it with `tmux -S <socket> ls`; a server that has exited is removed automatically."
            return CheckFinding(
                name=self.name, status="warn", message=f"no response from {', '.join(failing)}", hint=hint
            )
        return CheckFinding(name=self.name, status="ok", message=f"{len(health.servers)} watched, all respond")
