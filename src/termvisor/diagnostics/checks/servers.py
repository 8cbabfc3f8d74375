"""The check `servers`: every tmux server we know of answers."""

from termvisor.diagnostics.checks.check import Finding, Sight


class ServersAnswer:
    name = "servers"
    doc = "Every watched multiplexer server answers."

    async def look(self, sight: Sight) -> Finding:
        health = await sight.health()
        if health is None:
            return Finding(name=self.name, status="skip", message="no daemon is running")
        silent = [server.socket for server in health.servers if not server.mux_ok]
        if silent:
            hint = "`tmux -S <socket> ls` shows whether it is alive; a server that ended is forgotten by itself."
            return Finding(name=self.name, status="warn", message=f"no answer from {', '.join(silent)}", hint=hint)
        return Finding(name=self.name, status="ok", message=f"{len(health.servers)} watched, all answer")
