"""The plan of a run that waits for the end of a usage limit, in words for people. Pure; all times are in UTC."""

from msgspec import Struct

from termvisor.clock import NS, iso


class Situation(Struct, frozen=True, kw_only=True):
    run: int
    agent: str
    session: str = ""
    command: str = ""
    """What takes the conversation up again, for a shell."""
    cwd: str = ""
    words: str = "proceed."
    now: int
    resets_at: int | None = None
    due: int | None = None
    goes_on_by_itself: bool = False
    trouble: str = ""
    """What speaks against going on without a person."""


def plan(of: Situation) -> str:
    """Four lines: when, what, how by hand, what a person can do."""
    lines = [f"When: {_when(of)}", f"What: {_what(of)}", f"By hand: {_by_hand(of)}", f"You can: {_can(of)}"]
    return "\n".join([f"Trouble: {of.trouble}", *lines] if of.trouble else lines)


def _when(of: Situation) -> str:
    if of.resets_at is None:
        return f"{of.agent} reached its usage limit and did not say when that ends"
    if of.resets_at <= of.now:
        return f"the usage limit of {of.agent} ended at {stamp(of.resets_at)}, by its own words"
    return f"the usage limit of {of.agent} ends at {stamp(of.resets_at)}, in {span(of.resets_at - of.now)}"


def _what(of: Situation) -> str:
    session = f" in session {of.session}" if of.session else ""
    if of.goes_on_by_itself:
        return f"{of.agent} goes on by itself{session}; nothing is sent"
    if of.due is None:
        return f"nothing is sent{session} before a person says so"
    return f"at {stamp(of.due)} {of.words!r} is sent once{session}, if the pane is as it was left"


def _by_hand(of: Situation) -> str:
    if not of.command:
        return f"type {of.words!r} in the pane"
    return f"cd {of.cwd} && {of.command}" if of.cwd else of.command


def _can(of: Situation) -> str:
    return (
        f"`visor workflow resume {of.run}` goes on now, `visor workflow cancel {of.run}` drops the plan,"
        " `visor config set auto_resume false` has it wait for you"
    )


def stamp(at: int) -> str:
    return f"{iso(at)[:19].replace('T', ' ')} UTC"


def span(nanoseconds: int) -> str:
    minutes, seconds = divmod(max(0, nanoseconds) // NS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    told = [f"{count} {unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(told) or "0 s"
