"""The watch of one job: look at its terminal when something happened, and decide what state it is in.

A look costs less than a millisecond. It is due 150 ms after output, at once after input and when the wrapper wrote its
result, and otherwise less and less often.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.jobs.host import JobHost, JobProgress
from termvisor.jobs.output import JobOutput
from termvisor.jobs.status import SETTLE_S, JobObservation, find_wait_evidence
from termvisor.model.job import Job, JobSpec, JobWait
from termvisor.system.terminal_wait import TerminalWait, probe_terminal

_MIN_DELAY_S, _MAX_DELAY_S = 0.1, 1.0
_QUIET_BEFORE_GIVING_UP_S = 2.0
"""Seconds without new output after which the end mark of a finished job is no longer awaited."""
_QUIET_IF_DRAINED_S = 0.5
"""The same for a terminal that holds no output: what was just written to it may still be in a queue of the kernel."""
_MARK_POLL_S = 0.005
_MAX_PROMPT_CHARS = 200


class JobLook(Struct, frozen=True, kw_only=True):
    """What one look found: how far the job is, and what it waits for."""

    progress: JobProgress
    wait: JobWait | None = None


class JobWatch:
    """Watches one job. ``read_last_line`` returns the unfinished last line of its terminal, redacted."""

    def __init__(
        self,
        job: Job,
        *,
        host: JobHost,
        output: JobOutput,
        clock: Clock,
        spec: JobSpec | None,
        read_last_line: Callable[[], str],
    ):
        self.job, self.spec = job, spec
        self._host, self._output, self._clock, self._read_last_line = host, output, clock, read_last_line
        self._detectors = compile_detectors(spec.detectors if spec else ())
        self._wake = asyncio.Event()
        self._delay = _MIN_DELAY_S
        self._last_output_at = self._last_active_at = clock.monotonic()
        self._cpu_ticks = -1
        self._scan_position = 0
        self.is_started = self.is_stopping = False
        self.stop_cause = ""

    def note_output(self) -> None:
        """Remember that the terminal printed something; it is looked at once it is quiet."""
        self._last_output_at = self._last_active_at = self._clock.monotonic()
        self._delay = SETTLE_S
        self._wake.set()

    def note_change(self) -> None:
        """Look at once: the wrapper wrote its result, or a stop was sent."""
        self._delay = 0.0
        self._wake.set()

    def note_input(self) -> None:
        """Look at once: something was typed. A program that takes it may ask for more, and prints that first."""
        self._last_output_at = self._clock.monotonic()
        self.note_change()

    async def wait_for_look(self, until: float | None) -> None:
        """Wait until the next look is due, at most until a monotonic time."""
        # Output that never pauses must not postpone the look for ever.
        latest = min(self._clock.monotonic() + _MAX_DELAY_S, float("inf") if until is None else until)
        while True:
            self._wake.clear()
            delay = min(self._delay, max(0.0, latest - self._clock.monotonic()))
            with suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._wake.wait()
                    # Output only postpones the look; everything else is looked at now.
                    if self._delay == SETTLE_S:
                        continue
            break
        self._delay = min(_MAX_DELAY_S, max(_MIN_DELAY_S, 2 * self._delay))

    async def look(self) -> JobLook:
        """Read how far the job is and, while it runs, what it waits for."""
        position = 0 if self.job.pane is None else await self._output.measure(self.job.pane)
        progress = await self._host.read_progress(self.job)
        if progress.state != "running":
            return JobLook(progress=progress)
        if position != self._scan_position:
            # Recorded, though not yet decoded: the last line that is known may be an earlier one.
            self.note_output()
        # The mark comes after the result, so it is not in what was printed before.
        self._scan_position = position
        return JobLook(progress=progress, wait=self._find_wait(probe_terminal(self.job.pid)))

    def _find_wait(self, wait: TerminalWait) -> JobWait | None:
        now = self._clock.monotonic()
        if wait.cpu_ticks != self._cpu_ticks:
            self._cpu_ticks, self._last_active_at = wait.cpu_ticks, now
        prompt = self._read_last_line().strip()[-_MAX_PROMPT_CHARS:]
        evidence = find_wait_evidence(
            JobObservation(
                wait=wait,
                quiet_s=now - self._last_output_at,
                idle_s=now - self._last_active_at,
                has_prompt=any(detector.search(prompt) for detector in self._detectors),
                quiet_after=self.spec.quiet_after if self.spec else 0.0,
            )
        )
        return None if evidence is None else JobWait(evidence=evidence, prompt=prompt)

    async def wait_for_end_mark(self) -> int:
        """Return where the output ends: at the end mark, or behind all that was printed if none comes."""
        position, size = self._scan_position, -1
        quiet_since = self._clock.monotonic()
        while True:
            found = await self._output.find_end(self.job, position)
            if found.offset is not None:
                return found.offset
            now, measured = self._clock.monotonic(), await self._output.measure(self.job.pane)
            if measured != size:
                size, quiet_since = measured, now
            elif (
                found.is_closed
                or now - quiet_since >= _QUIET_BEFORE_GIVING_UP_S
                or (now - quiet_since >= _QUIET_IF_DRAINED_S and await self._host.is_drained(self.job))
            ):
                return size
            position = found.position
            await self._clock.sleep(_MARK_POLL_S)


def compile_detectors(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Compile patterns, which were validated when the job was requested."""
    return [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
