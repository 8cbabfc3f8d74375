"""Settings for agent recognition, states and sessions: the tables `[agents]`, `[agents.<name>]` and `[prices]`."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta, field

from termvisor.model.agent.agent_program import AgentProgram
from termvisor.model.agent.price import ModelPrice
from termvisor.model.settings.notifications import NotificationSettings
from termvisor.model.settings.units import DAYS, SECONDS


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
        dict[str, AgentProgram],
        Meta(
            description="Additional programs to treat as agents, each a table `[agents.<name>]`: `command` is a pattern"
            " for the command line, `states` has a pattern for a row of the screen for each state.",
            extra={
                "restart": "visor daemon restart",
                "line": "command line :: state :: row",
                "example": {"aider": {"command": "aider", "states": {"waiting_approval": r"\(Y\)es/\(N\)o"}}},
            },
        ),
    ] = field(default_factory=dict)
    agent_completed_for: Annotated[
        float, Meta(description="Seconds after which a `completed` task is `idle`.", ge=1, le=86_400, extra=SECONDS)
    ] = 120.0
    agent_contradicted_after: Annotated[
        float,
        Meta(
            description="Seconds for which the screen may contradict other sources before it is reported.",
            ge=1,
            le=600,
            extra=SECONDS,
        ),
    ] = 5.0
    agent_idle_after: Annotated[
        float,
        Meta(
            description="Seconds for which a screen must look idle before the agent is `idle`.",
            ge=0.5,
            le=600,
            extra=SECONDS,
        ),
    ] = 4.0
    agent_transcripts: Annotated[
        bool, Meta(description="Store agents' transcripts, redacted, so that `visor search` finds them.")
    ] = True
    agent_prices: Annotated[
        dict[str, ModelPrice],
        Meta(
            description='Prices of models in dollars per million tokens, each a table `[prices."<model>"]` with'
            " `input`, `output` and, if they differ from `input`, `cached` (read) and `written`; the name may contain"
            " `*`. The first match counts. None are built in.",
            extra={
                "line": "model :: input :: output :: cached :: written",
                "example": {"some-model-*": {"input": 3, "output": 15, "cached": 0.3}},
            },
        ),
    ] = field(default_factory=dict)
    agent_inbox: Annotated[
        Literal["all", "native", "off"],
        Meta(
            description="Which permission requests of agents are added to the inbox: `native`, those that can be"
            " answered by the agent's own server; `all`, also those that only the keys of its dialog can answer;"
            " `off`, none. Requests from an agent's hook are always added."
        ),
    ] = "all"
    agent_resume: Annotated[
        dict[str, str],
        Meta(
            description="Commands that resume a session instead of the default one: `resume` in `[agents.<name>]`, with"
            " `{session}` in it, for example `my-claude --resume {session}`.",
            extra={"line": "agent :: command", "example": {"claude_code": "my-claude --resume {session}"}},
        ),
    ] = field(default_factory=dict)
    agent_retention: Annotated[
        float, Meta(description="Days to keep agents' signals as evidence; 0: forever.", ge=0, le=36_500, extra=DAYS)
    ] = 7.0


def build_resume_command(settings: AgentSettings, agent: str, session: str) -> tuple[str, ...]:
    """Return the configured resume command of an agent; empty if there is none or the session is unknown."""
    command = settings.agent_resume.get(agent, "") if session else ""
    return tuple(word.replace("{session}", session) for word in shlex.split(command))


def parse_resume_line(line: str) -> tuple[str, str]:
    """Return the agent and the command of a line `agent :: command`. Raises ValueError with the problem."""
    name, _, command = (part.strip() for part in line.partition("::"))
    if not (name and command):
        raise ValueError("is not `agent :: command`")
    return name, command


def find_resume_problem(command: str) -> str:
    """Return why a text is not a valid resume command; empty if it is."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        return f"is not a command: {error}"
    return "" if any("{session}" in word for word in words) else "does not contain {session}"
