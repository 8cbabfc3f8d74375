"""The check `recorder`: the process that keeps the bytes is alive."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class RecorderCheck:
    name = "recorder"
    doc = "The daemon runs, and so does its recorder process."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            message = "no daemon is running"
            return CheckFinding(name=self.name, status="skip", message=message, hint="`visor up` starts it.")
        if health.recorder is None:
            hint = "It is started again by itself; `visor health` shows alerts, `visor down` and `visor up` start anew."
            return CheckFinding(name=self.name, status="fail", message="the recorder is not running", hint=hint)
        return CheckFinding(name=self.name, status="ok", message=f"process {health.recorder.pid} records")
