"""The settings that say how agents are known. In `config.toml` they may stand in a table: `[agent]`."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.notice import NotifySettings


class AgentSettings(NotifySettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    agent_retention: Annotated[
        float, Meta(description="Days that the signals of agents are kept as evidence; 0: for ever.", ge=0, le=36_500)
    ] = 7.0
