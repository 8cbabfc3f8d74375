"""The check `recorder`: the process that keeps the bytes is alive."""

from termvisor.diagnostics.checks.check import Finding, Sight


class RecorderIsAlive:
    name = "recorder"
    doc = "The daemon runs, and so does its recorder process."

    async def look(self, sight: Sight) -> Finding:
        health = await sight.health()
        if health is None:
            message = "no daemon is running"
            return Finding(name=self.name, status="skip", message=message, hint="`visor up` starts it.")
        if health.recorder is None:
            hint = "It is started again by itself; `visor health` shows alerts, `visor down` and `visor up` start anew."
            return Finding(name=self.name, status="fail", message="the recorder is not running", hint=hint)
        return Finding(name=self.name, status="ok", message=f"process {health.recorder.pid} records")
