"""Describe events as sentences for people. Programs and pipes get their fields."""

from collections import defaultdict

from termvisor.model.event import EVENT_KINDS, EVENT_TYPES, Scalar
from termvisor.ops.events._event_item import DetectionItem, EventItem

_SENTENCES = {
    "server_found": "tmux server found: {socket}",
    "server_gone": "tmux server is gone: {socket}",
    "pane_appeared": "new pane in {session}: {command}",
    "pane_gone": "the pane was closed",
    "pane_respawned": "{command} was started again; the pane was {previous}",
    "pane_resized": "resized to {width}×{height}",
    "pane_moved": "moved to {session}, window {window}",
    "pane_renamed": "is now {session}, window {window}",
    "epoch_opened": "capture started",
    "epoch_closed": "capture ended: {ended_by}",
    "gap_recorded": "output was not captured: {cause}",
    "user_var": "{name} was set to {value}",
    "agent_began": "{agent} started",
    "agent_ended": "{agent} ended: {end_reason}",
    "state_changed": "{agent}: {before} → {after}",
    "daemon_started": "the daemon started, version {version}",
    "alert": "alert: {what}",
    "alert_cleared": "solved: {what}",
}
# Fields whose values are identifiers made of words.
_WORD_FIELDS = ("before", "after", "cause", "ended_by", "end_reason")


def describe_event(event: EventItem) -> str:
    """Describe an event in one sentence: `codex: running → waiting approval`."""
    if event.detection is not None:
        return _describe_detection(event.kind, event.detection)
    words = {
        name: str(value).replace("_", " ") if name in _WORD_FIELDS else str(value)
        for name, value in event.data.items()
        if value is not None
    }
    sentence = _SENTENCES.get(event.kind)
    if sentence is None:
        return _join_details(EVENT_KINDS.get(event.kind, event.kind), format_event_data(event.data))
    # Events of other versions may lack a field.
    return sentence.format_map(defaultdict(str, words)).strip(" :")


def _describe_detection(kind: str, detection: DetectionItem) -> str:
    notes = (
        "" if detection.severity == "info" else detection.severity,
        f"seen {detection.seen_again + 1} times" if detection.seen_again else "",
        "" if detection.proven else "not proven",
        f"handled by {detection.handled.by}" if detection.handled is not None else "",
        f"would be handled by {detection.remedy}" if detection.remedy else "",
    )
    what = EVENT_TYPES.get(kind, kind).split(":")[0].split(";")[0].rstrip(".")
    captures = ", ".join(f"{name} {value}" for name, value in detection.captures.items())
    return _join_details(f"{what}: {captures}" if captures else what, ", ".join(note for note in notes if note))


def _join_details(text: str, details: str) -> str:
    return f"{text.rstrip('.')} ({details})" if details else text.rstrip(".")


def format_event_data(data: dict[str, Scalar]) -> str:
    """Format as `cause=pipe_stolen seconds=3`."""
    return " ".join(f"{name}={value}" for name, value in data.items())
