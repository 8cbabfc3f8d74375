"""The check `clock`: no stored time is in the future."""

from termvisor.clock import NS
from termvisor.diagnostics.checks.check import CheckContext, CheckFinding

MAX_AHEAD_S = 5.0


class ClockSkewCheck:
    name = "clock"
    doc = "The newest stored time is at most 5 seconds ahead of the system clock."

    async def run(self, context: CheckContext) -> CheckFinding:
        newest = await context.read_newest_event_time()
        if newest is None:
            return CheckFinding(name=self.name, status="skip", message="no events stored yet, or no daemon is running")
        ahead = (newest - context.clock.now()) / NS
        if ahead > MAX_AHEAD_S:
            hint = "The system clock was set back. Check its time service; searches by time may miss lines."
            return CheckFinding(
                name=self.name, status="warn", message=f"stored times are {ahead:.0f} s in the future", hint=hint
            )
        return CheckFinding(name=self.name, status="ok", message="stored times match the system clock")
