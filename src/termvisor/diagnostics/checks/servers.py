"""The check `servers`: every tmux server we know of answers."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class ServersCheck:
    name = "servers"
    doc = "Every watched multiplexer server answers."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            return CheckFinding(name=self.name, status="skip", message="no daemon is running")
        silent = [server.socket for server in health.servers if not server.mux_ok]
        if silent:
            hint = "`tmux -S <socket> ls` shows whether it is alive; a server that ended is forgotten by itself."
            return CheckFinding(name=self.name, status="warn", message=f"no answer from {', '.join(silent)}", hint=hint)
        return CheckFinding(name=self.name, status="ok", message=f"{len(health.servers)} watched, all answer")
