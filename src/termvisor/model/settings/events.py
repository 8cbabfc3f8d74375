"""Settings of notifications about detections. In `config.toml` they are in `[events]`."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import NotificationWay
from termvisor.model.detection.rule import Severity
from termvisor.model.settings.patterns import PatternSettings


class EventSettings(PatternSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the pattern settings (a msgspec struct can have only one base)."""

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
