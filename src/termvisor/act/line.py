"""What an agent is told by its own server instead of by its keyboard, and how it is known that it heard."""

from collections.abc import Mapping
from typing import Protocol

from termvisor.act.send import Ended, Step
from termvisor.agents.codex import channel
from termvisor.agents.foreign import Json, inside, text
from termvisor.clock import Clock
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome

STOPPED_WITHIN = 5.0
_LOOK_FOR = 0.1
_SILENT = "the agent's server did not say whether it heard"


class Line(Protocol):
    """One conversation of one agent, proven to be the one that its pane shows."""

    thread: str

    async def ask(self, method: str, params: Mapping[str, object]) -> Json:
        """The server's answer. Raises BadRequest for an error, TimedOut or Unavailable where nothing is known."""

    async def request(self) -> Json:
        """The request in it, which is followed, that waits for an answer. Raises TimedOut for none."""

    async def reply(self, request: Json, result: Mapping[str, object]) -> bool:
        """Answer exactly this request, once; False where it no longer waits."""

    async def until_resolved(self, request: Json) -> bool:
        """Whether it was answered, by anybody; False when the server cannot be heard."""


async def asked(line: Line, wish: channel.Ask) -> Json:
    return await line.ask(wish.method, wish.params)


async def prompted(line: Line, words: str, step: Step) -> Ended:
    """A turn that begins with these words. Never tried again: who hears nothing of it does not know."""
    await step("submitting")
    try:
        answer = await asked(line, channel.prompt(line.thread, words))
    except BadRequest as error:
        return Ended("refused", "server_refused", f"its server refused it: {error.message}")
    except (TimedOut, Unavailable) as error:
        return Ended("unknown", "no_answer", f"{_SILENT}: {error.message}")
    if not text(inside(answer, "turn"), "id"):
        return Ended("unknown", "not_confirmed", "its server named no turn")
    return Ended("delivered", "turn_started", channel="native")


async def interrupted(line: Line, pane: PaneId, clock: Clock) -> Outcome | None:
    """None where it is at nothing that could be interrupted so."""
    turn = await _turn(line)
    number = text(turn, "id")
    if text(turn, "status") != "inProgress" or not number:
        return None
    done = Outcome(status="done", why="interrupted", pane=pane, channel="native")
    try:
        await asked(line, channel.stop_turn(line.thread, number))
        until = clock.monotonic() + STOPPED_WITHIN
        while clock.monotonic() < until:
            turn = await _turn(line)
            if text(turn, "id") != number or text(turn, "status") != "inProgress":
                return done
            await clock.sleep(_LOOK_FOR)
    except (TimedOut, Unavailable) as error:
        return Outcome(status="unknown", why="no_answer", text=f"{_SILENT}: {error.message}", pane=pane)
    return Outcome(status="unknown", why="still_at_work", text="it was told to stop and goes on", pane=pane)


async def _turn(line: Line) -> Json:
    found = (await asked(line, channel.last_turn(line.thread))).get("data")
    return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
