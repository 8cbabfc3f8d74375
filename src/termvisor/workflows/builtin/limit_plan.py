"""Render the plan of a run that waits for the end of a usage limit. Pure; all times are in UTC.

The text is part of the journaled pause: changing it changes the workflow's version.
"""

from msgspec import Struct

from termvisor.clock import NS, format_timestamp


class LimitSituation(Struct, frozen=True, kw_only=True):
    run: int
    agent: str
    session: str = ""
    command: str = ""
    """The shell command that resumes the session."""
    cwd: str = ""
    words: str = "proceed."
    now: int
    resets_at: int | None = None
    due: int | None = None
    goes_on_by_itself: bool = False
    problem: str = ""
    """Why a person must decide."""


def render_plan(situation: LimitSituation) -> str:
    """Return four lines: when, what, how by hand, what a person can do; and the problem, if any, before them."""
    lines = [
        f"When: {_describe_time(situation)}",
        f"What: {_describe_action(situation)}",
        f"By hand: {_describe_manual_command(situation)}",
        f"You can: {_describe_commands(situation)}",
    ]
    return "\n".join([f"Trouble: {situation.problem}", *lines] if situation.problem else lines)


def _describe_time(situation: LimitSituation) -> str:
    agent, resets_at, now = situation.agent, situation.resets_at, situation.now
    if resets_at is None:
        return f"{agent} reached its usage limit and did not say when that ends"
    if resets_at <= now:
        return f"the usage limit of {agent} ended at {format_time(resets_at)}, by its own words"
    return f"the usage limit of {agent} ends at {format_time(resets_at)}, in {format_duration(resets_at - now)}"


def _describe_action(situation: LimitSituation) -> str:
    session = f" in session {situation.session}" if situation.session else ""
    if situation.goes_on_by_itself:
        return f"{situation.agent} goes on by itself{session}; nothing is sent"
    if situation.due is None:
        return f"nothing is sent{session} before a person says so"
    return f"at {format_time(situation.due)} {situation.words!r} is sent once{session}, if the pane is as it was left"


def _describe_manual_command(situation: LimitSituation) -> str:
    if not situation.command:
        return f"type {situation.words!r} in the pane"
    return f"cd {situation.cwd} && {situation.command}" if situation.cwd else situation.command


def _describe_commands(situation: LimitSituation) -> str:
    return (
        f"`visor workflow resume {situation.run}` goes on now, `visor workflow cancel {situation.run}` drops the plan,"
        " `visor config set auto_resume false` has it wait for you"
    )


def format_time(at: int) -> str:
    return f"{format_timestamp(at)[:19].replace('T', ' ')} UTC"


def format_duration(nanoseconds: int) -> str:
    minutes, seconds = divmod(max(0, nanoseconds) // NS, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), len(parts) - 1)
    return " ".join(f"{count} {unit}" for count, unit in parts[first : first + 2] if count) or "0 s"
