"""The settings that say how agents are known. In `config.toml` they may stand in a table: `[agent]`."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta

from termvisor.model.action.notification import NotificationSettings


class AgentSettings(NotificationSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of notifications come before."""

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
            description="Further programs that are known as agents: `command line :: state :: row`, with two patterns.",
            extra={"restart": "visor daemon restart"},
        ),
    ] = ()
    agent_completed_for: Annotated[
        float, Meta(description="Seconds after which a `completed` task is `idle`.", ge=1, le=86_400)
    ] = 120.0
    agent_contradicted_after: Annotated[
        float,
        Meta(description="Seconds for which the screen may show something else before it is said.", ge=1, le=600),
    ] = 5.0
    agent_idle_after: Annotated[
        float, Meta(description="Seconds for which a screen must show rest to be believed.", ge=0.5, le=600)
    ] = 4.0
    agent_transcripts: Annotated[
        bool, Meta(description="Keep what is said to agents and by them, redacted, so that `visor search` finds it.")
    ] = True
    agent_prices: Annotated[
        tuple[str, ...],
        Meta(
            description="What models cost, in dollars for a million tokens: `model :: input :: output :: from cache ::"
            " into cache`, with `*` in the name; the last two may be left out. First that fits. None are built in."
        ),
    ] = ()
    agent_inbox: Annotated[
        Literal["all", "native", "off"],
        Meta(
            description="Which permission requests of agents come to the inbox by themselves: `native`, those that an"
            " agent's own server can be answered by; `all`, also those that only the keys of its dialog answer; `off`,"
            " none. What an agent's hook brings comes in any case."
        ),
    ] = "all"
    agent_resume: Annotated[
        tuple[str, ...],
        Meta(
            description="How a session is taken up again, where the usual command does not do: `agent :: command`, with"
            " `{session}` in it, for example `claude_code :: my-claude --resume {session}`."
        ),
    ] = ()
    agent_retention: Annotated[
        float, Meta(description="Days that the signals of agents are kept as evidence; 0: for ever.", ge=0, le=36_500)
    ] = 7.0


def build_resume_command(settings: AgentSettings, agent: str, session: str) -> tuple[str, ...]:
    """What the person set for this agent; empty where nothing is set, or there is no session to name."""
    for line in settings.agent_resume:
        name, _, command = line.partition("::")
        if name.strip() == agent and session:
            return tuple(word.replace("{session}", session) for word in shlex.split(command))
    return ()


def find_resume_line_problem(line: str) -> str:
    """What is wrong with a line of `agent_resume`; empty where nothing is."""
    name, sign, command = line.partition("::")
    try:
        words = shlex.split(command)
    except ValueError as error:
        return str(error)
    if not (sign and name.strip() and words):
        return "is not `agent :: command`"
    return "" if any("{session}" in word for word in words) else "does not say where the {session} goes"
