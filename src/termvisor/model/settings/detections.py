"""Settings for detection rules (`[patterns]` in `config.toml`) and notifications about detections (`[events]`)."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import NotificationWay
from termvisor.model.detection.rule import Severity
from termvisor.model.settings.agents import AgentSettings


class DetectionSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    events_ways: Annotated[
        tuple[NotificationWay, ...],
        Meta(
            description="Ways for notifications of detections, such as `webhook`; see `notify_webhook_url`. An empty"
            " list: none."
        ),
    ] = ()
    events_types: Annotated[
        tuple[str, ...],
        Meta(description="Types to notify, or globs such as `usage.*`. An empty list: all types."),
    ] = ()
    events_severity: Annotated[Severity, Meta(description="Minimum severity to notify.")] = "warning"
