"""The settings that say which rules are in force. In `config.toml` they stand in `[patterns]`."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.settings.agents import AgentSettings


class PatternSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of agents come before."""

    patterns_order: Annotated[
        tuple[str, ...],
        Meta(
            description="Rule packs that are loaded last, in this order; of two rules with one id the later one holds."
        ),
    ] = ()
    patterns_disabled: Annotated[
        tuple[str, ...],
        Meta(description="Rules that are off: ids, names of packs, or globs such as `core.wezterm*`."),
    ] = ()
    patterns_state_gating_enabled: Annotated[
        bool,
        Meta(description="Rules about an agent tell something only where an agent is, or has just ended."),
    ] = True
    patterns_state_gating_require_agent_match: Annotated[
        bool, Meta(description="It must be the very agent that the rule is about.")
    ] = True
