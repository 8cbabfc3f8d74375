"""Settings for agent recognition, states and sessions. In `config.toml` they may be in a table `[agent]`."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta

from termvisor.model.settings.notifications import NotificationSettings


class AgentSettings(NotificationSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the notification settings (a msgspec struct can have only one base)."""

    agents_disabled: Annotated[
        tuple[str, ...],
        Meta(
            description="Agents that are not recognised, by name, for example `copilot`.",
            extra={"restart": "visor daemon restart"},
        ),
    ] = ()
    agent_programs: Annotated[
        tuple[str, ...],
        Meta(
            description="Additional programs to treat as agents: `command line :: state :: row`, with two patterns.",
            extra={"restart": "visor daemon restart"},
        ),
    ] = ()
    agent_completed_for: Annotated[
        float, Meta(description="Seconds after which a `completed` task is `idle`.", ge=1, le=86_400)
    ] = 120.0
    agent_contradicted_after: Annotated[
        float,
        Meta(
            description="Seconds for which the screen may contradict other sources before it is reported.",
            ge=1,
            le=600,
        ),
    ] = 5.0
    agent_idle_after: Annotated[
        float, Meta(description="Seconds for which a screen must look idle before the agent is `idle`.", ge=0.5, le=600)
    ] = 4.0
    agent_transcripts: Annotated[
        bool, Meta(description="Store agents' transcripts, redacted, so that `visor search` finds them.")
    ] = True
    agent_prices: Annotated[
        tuple[str, ...],
        Meta(
            description="Prices of models in dollars per million tokens: `model :: input :: output :: from cache ::"
            " into cache`; the name may contain `*`, the last two are optional. The first match counts. None are built"
            " in."
        ),
    ] = ()
    agent_inbox: Annotated[
        Literal["all", "native", "off"],
        Meta(
            description="Which permission requests of agents are added to the inbox: `native`, those that can be"
            " answered by the agent's own server; `all`, also those that only the keys of its dialog can answer;"
            " `off`, none. Requests from an agent's hook are always added."
        ),
    ] = "all"
    agent_resume: Annotated[
        tuple[str, ...],
        Meta(
            description="Commands that resume a session instead of the default one: `agent :: command` with `{session}`"
            " in it, for example `claude_code :: my-claude --resume {session}`."
        ),
    ] = ()
    agent_retention: Annotated[
        float, Meta(description="Days to keep agents' signals as evidence; 0: forever.", ge=0, le=36_500)
    ] = 7.0


def build_resume_command(settings: AgentSettings, agent: str, session: str) -> tuple[str, ...]:
    """Return the configured resume command of an agent; empty if there is none or the session is unknown."""
    for line in settings.agent_resume:
        name, _, command = line.partition("::")
        if name.strip() == agent and session:
            return tuple(word.replace("{session}", session) for word in shlex.split(command))
    return ()


def find_resume_line_problem(line: str) -> str:
    """Return the problem with a line of `agent_resume`, or an empty string."""
    name, separator, command = line.partition("::")
    try:
        words = shlex.split(command)
    except ValueError as error:
        return str(error)
    if not (separator and name.strip() and words):
        return "is not `agent :: command`"
    return "" if any("{session}" in word for word in words) else "does not contain {session}"
