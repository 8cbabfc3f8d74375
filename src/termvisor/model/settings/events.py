"""The settings that say of which detections people and programs are told. In `config.toml` they stand in `[events]`."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import NotificationWay
from termvisor.model.detection.rule import Severity
from termvisor.model.settings.patterns import PatternSettings


class EventSettings(PatternSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of rules come before."""

    events_ways: Annotated[
        tuple[NotificationWay, ...],
        Meta(description="How detections are told, such as `webhook`; see `notify_webhook_url`. An empty list: not."),
    ] = ()
    events_types: Annotated[
        tuple[str, ...],
        Meta(description="Which of them: types or globs such as `usage.*`. An empty list: all that are severe enough."),
    ] = ()
    events_severity: Annotated[Severity, Meta(description="Which of them: those that are at least so severe.")] = (
        "warning"
    )
