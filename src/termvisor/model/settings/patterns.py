"""Settings of detection rules. In `config.toml` they are in `[patterns]`."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.settings.agents import AgentSettings


class PatternSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the agent settings (a msgspec struct can have only one base)."""

    patterns_order: Annotated[
        tuple[str, ...],
        Meta(
            description="Rule packs to load last, in this order; of two rules with the same id the later one is used."
        ),
    ] = ()
    patterns_disabled: Annotated[
        tuple[str, ...],
        Meta(description="Disabled rules: ids, names of packs, or globs such as `core.wezterm*`."),
    ] = ()
    patterns_state_gating_enabled: Annotated[
        bool,
        Meta(description="Apply rules about an agent only in panes with an agent, or where one has just ended."),
    ] = True
    patterns_state_gating_require_agent_match: Annotated[
        bool, Meta(description="Require that it is the agent of the rule.")
    ] = True
