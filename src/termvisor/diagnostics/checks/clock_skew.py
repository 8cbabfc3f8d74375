"""The check `clock`: no stored time lies in the future."""

from termvisor.clock import NS
from termvisor.diagnostics.checks.check import Finding, Sight

TOLERATED = 5.0


class ClockIsSteady:
    name = "clock"
    doc = "The newest stored time is not more than 5 seconds ahead of the machine's clock."

    async def look(self, sight: Sight) -> Finding:
        newest = await sight.newest_at()
        if newest is None:
            return Finding(name=self.name, status="skip", message="nothing is stored yet, or no daemon is running")
        ahead = (newest - sight.clock.now()) / NS
        if ahead > TOLERATED:
            hint = "The machine's clock was set back. Check its time service; searches by time may miss lines."
            return Finding(name=self.name, status="warn", message=f"stored times are {ahead:.0f} s ahead", hint=hint)
        return Finding(name=self.name, status="ok", message="stored times and the machine's clock agree")
