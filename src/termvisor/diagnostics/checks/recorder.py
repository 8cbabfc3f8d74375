"""The check `recorder`: the recorder process is running."""

from termvisor.diagnostics.checks.check import CheckContext, CheckFinding


class RecorderCheck:
    name = "recorder"
    doc = "The daemon and its recorder process are running."

    async def run(self, context: CheckContext) -> CheckFinding:
        health = await context.get_health()
        if health is None:
            message = "no daemon is running"
            return CheckFinding(name=self.name, status="skip", message=message, hint="`visor up` starts it.")
        if health.recorder is None:
            hint = "The daemon restarts it; `visor health` shows alerts. If that fails, run `visor down && visor up`."
            return CheckFinding(name=self.name, status="fail", message="the recorder is not running", hint=hint)
        return CheckFinding(name=self.name, status="ok", message=f"running (pid {health.recorder.pid})")
