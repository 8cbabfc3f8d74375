"""Waiting for something in a pane. What was printed since the run's last act counts, so no answer is missed."""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Literal

import msgspec
from msgspec import Struct

from termvisor.clock import Clock
from termvisor.errors import BadRequest, ConfigError, TimedOut
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.model.workflow.run import Run
from termvisor.redaction import redact
from termvisor.regex import compile_patterns
from termvisor.workflows.calls import Met, Observation, WaitFor
from termvisor.workflows.engine.journaled_calls import Going, Last, left
from termvisor.workflows.engine.services import Detected, Sight, Words
from termvisor.workflows.steps.race import race

_LOOK_BACK = 50
"""Lines before the first act of a run that count as well."""
_PATIENCE = 5.0
"""Seconds after which a pane is looked at without news: screens repaint silently."""


class SoFar(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From which line on a text counts, and the row that only shows what was typed; from when on an event counts; and
    the last signal that counts no more."""

    after: int = 0
    echo: str = ""
    since: int = 0
    signal: int = 0


class Waits:
    def __init__(self, sight: Sight, detected: Detected, words: Words, clock: Clock):
        self._sight, self._detected, self._words, self._clock = sight, detected, words, clock

    async def prepare(self, run: Run, call: WaitFor, last: Last) -> str:
        so_far = SoFar(signal=last.signal, since=last.at or run.at)
        if run.pane is not None and (call.text or call.pattern):
            after = await self._line(run.pane) if last.line is None else last.line
            first = last.text.strip().splitlines()[0] if last.text.strip() else ""
            so_far = SoFar(after=after, echo=redact(first))
        return msgspec.json.encode(so_far).decode()

    async def _line(self, pane: PaneId) -> int:
        view = await self._sight.view(pane)
        return max(0, (view.lines if view else 0) - _LOOK_BACK)

    async def wait(self, call: WaitFor, going: Going) -> Met:
        pane, seconds = going.run.pane, left(going, call.timeout, self._clock.now())
        if call.signal:
            return await race(self._signal(call, going), self._too_late(call, seconds))
        if pane is None:
            raise BadRequest("the run has no pane to wait for")
        look = self._looker(call, going, pane)
        until = self._clock.monotonic() + seconds
        with self._sight.stir(pane) as stir:
            while True:
                seen = await self._sight.observe(pane, _LOOK_BACK)
                if (met := await look(seen)) is not None:
                    return met
                if (remains := until - self._clock.monotonic()) <= 0:
                    raise _late(call)
                await stir.next(min(remains, _patience(call, seen)))

    def _looker(self, call: WaitFor, going: Going, pane: PaneId) -> "Looker":
        if call.text or call.pattern:
            return _Text(self._sight, pane, call, _so_far(going)).look
        if call.rule:
            return self._rule(call, going, pane)
        return _facts(call, _so_far(going).since)

    def _rule(self, call: WaitFor, going: Going, pane: PaneId) -> "Looker":
        async def look(_seen: Observation) -> Met | None:
            for found in await self._detected.since(pane, _so_far(going).since):
                if found.event != going.run.event and _is_named(found, call.rule):
                    return Met(what="rule", text=found.type, event=found.event)
            return None

        return look

    async def _signal(self, call: WaitFor, going: Going) -> Met:
        with self._words.news() as news:
            while True:
                for signal in await self._words.said(going.run.id):
                    if signal.word == call.signal and signal.id > _so_far(going).signal:
                        return Met(what="signal", text=signal.word, value=signal.value, event=signal.id)
                await news.get()

    async def _too_late(self, call: WaitFor, seconds: float) -> Met:
        await self._clock.sleep(seconds)
        raise _late(call)


Looker = Callable[[Observation], Awaitable[Met | None]]


class _Text:
    def __init__(self, sight: Sight, pane: PaneId, call: WaitFor, so_far: SoFar):
        self._sight, self._pane, self._so_far = sight, pane, so_far
        self._fits, self._after = fitting(call), so_far.after
        self._what: Literal["text", "pattern"] = "text" if call.text else "pattern"

    async def look(self, seen: Observation) -> Met | None:
        rows = [*await self._printed(), *_shown(seen)]
        found = next((row for row in rows if self._is_it(row)), None)
        return None if found is None else Met(what=self._what, text=found)

    async def _printed(self) -> list[str]:
        rows: list[str] = []
        while page := await self._sight.lines(self._pane, self._after):
            self._after = page[-1].number
            rows += [line.text for line in page]
        return rows

    def _is_it(self, row: str) -> bool:
        echo = self._so_far.echo
        return self._fits(row) and not (echo and echo in row)


def _shown(seen: Observation) -> tuple[str, ...]:
    """Of a program that repaints, what it shows now; of others only the row that is not finished yet."""
    if seen.agent or seen.is_alternate:
        return seen.screen
    return tuple(row for row in seen.screen if row.strip())[-1:]


def _facts(call: WaitFor, since: int) -> Looker:
    async def look(seen: Observation) -> Met | None:
        if call.state:
            is_so = seen.agent and seen.state in call.state and (not call.is_new or seen.state_at >= since)
            return Met(what="state", text=seen.state) if is_so else None
        if call.session or call.cleared or call.gone:
            return _became(call, seen)
        if call.prompt:
            return Met(what="prompt") if seen.activity == "prompt" else None
        return Met(what="quiet") if seen.quiet_for is None or seen.quiet_for >= call.quiet else None

    return look


def _became(call: WaitFor, seen: Observation) -> Met | None:
    """Of the agent in the pane, or of its screen."""
    if call.session:
        return Met(what="session", text=seen.session) if seen.agent and seen.session == call.session else None
    if call.cleared:
        is_clear = bool(seen.agent) and not getattr(seen, call.cleared)
        return Met(what="cleared", text=call.cleared) if is_clear else None
    return None if any(call.gone in row for row in seen.screen) else Met(what="gone", text=call.gone)


def fitting(call: WaitFor) -> Callable[[str], bool]:
    """Whether a text fits; a pattern that cannot be understood is ``BadRequest``."""
    if call.text:
        return lambda row: call.text in row
    try:
        matcher = compile_patterns({"wanted": call.pattern}, "re2")
    except ConfigError as error:
        raise BadRequest(f"{call.pattern}: {error.message}") from error
    return lambda row: bool(matcher.ids(row.encode("utf-8", "replace")))


def _so_far(going: Going) -> SoFar:
    return msgspec.json.decode(going.so_far, type=SoFar) if going.so_far else SoFar()


def _is_named(found: Detection, name: str) -> bool:
    return fnmatchcase(found.rule, name) or fnmatchcase(found.type, name)


def _patience(call: WaitFor, seen: Observation) -> float:
    return max(0.05, call.quiet - (seen.quiet_for or 0.0)) if call.quiet else _PATIENCE


def _late(call: WaitFor) -> TimedOut:
    return TimedOut(
        f"what the run waited for did not come within {call.timeout:g} s", details={"seconds": call.timeout}
    )
