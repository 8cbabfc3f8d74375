"""The operation `events_mute`: mute a rule or event type: its detections are stored as handled."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import compute_seconds_between, parse_timestamp
from termvisor.errors import BadRequest
from termvisor.model.action.action import WriteConfig
from termvisor.model.detection.detection import DetectionMute
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import check_rule_or_type, format_caller
from termvisor.ops.panes._pane_reference import PaneFilter, resolve_pane_id
from termvisor.ops.render.results import format_optional_timestamp
from termvisor.ops.render.text import RenderOptions, format_age, sanitize
from termvisor.redaction import redact

# A mute is stored and matched as a glob against every detection, so it must be short and plain.
_NAME_PATTERN = re.compile(r"[\w.*?\[\]!-]{1,120}", re.ASCII)
_DURATION_PATTERN = re.compile(r"\d+(?:\.\d+)?[smhdw]", re.ASCII)


class EventsMuteArgs(Struct, frozen=True, kw_only=True):
    """Choose what to mute, where and for how long."""

    what: Annotated[
        str,
        Meta(
            description="A rule, an event type, or a glob: codex.usage.*, usage.warning.", extra={"positional": "one"}
        ),
    ]
    pane: PaneFilter = None
    lasting: Annotated[
        str | None,
        Meta(description="Duration, such as 2h or 7d; default: until `events unmute`.", extra={"also": ("--for",)}),
    ] = None


class MuteItem(Struct, frozen=True, kw_only=True):
    """``pane`` is null for all panes, ``until`` is null without an end."""

    id: int
    what: str
    pane: int | None
    since: str
    until: str | None
    by: str


async def run(services: Services, args: EventsMuteArgs) -> MuteItem:
    if not _NAME_PATTERN.fullmatch(args.what):
        raise BadRequest(f"{args.what[:80]!r} is not a rule, event type or glob", hint="For example `usage.warning`.")
    pane, now = await resolve_pane_id(services, args.pane), services.clock.now()
    # A glob of wildcards alone would hide every problem of every agent.
    if not args.what.strip("*?.") and pane is None:
        raise BadRequest("this would mute all events in all panes", hint="Name a rule or a type, or pass --pane.")
    check_rule_or_type(args.what, services.detections.rules.values())
    mute = DetectionMute(
        what=args.what,
        pane=pane,
        at=now,
        until=_compute_mute_end(args.lasting, now),
        by=format_caller(services.gate.actor),
    )
    return build_mute_item(await services.detections.mutes.add_mute(mute))


def _compute_mute_end(text: str | None, now: int) -> int | None:
    if text is None:
        return None
    if not _DURATION_PATTERN.fullmatch(text):
        raise BadRequest(f"{text[:40]!r} is not a duration", hint="For example --for 2h.")
    # `parse_timestamp` reads `2h` as two hours ago.
    return 2 * now - parse_timestamp(text, now)


def build_mute_item(mute: DetectionMute) -> MuteItem:
    return MuteItem(
        id=mute.id,
        what=redact(mute.what),
        pane=mute.pane,
        since=format_optional_timestamp(mute.at) or "",
        until=format_optional_timestamp(mute.until),
        by=redact(mute.by),
    )


def render_text(result: MuteItem, options: RenderOptions) -> str:
    where = "in all panes" if result.pane is None else f"in pane {result.pane}"
    until = f"until `visor events unmute {result.id}`"
    if result.until is not None:
        left = format_age(compute_seconds_between(options.now, parse_timestamp(result.until, options.now)))
        until = f"for {left}" if options.width else f"until {result.until}"
    return sanitize(f"mute {result.id}: {result.what} muted {where} {until}")


def _list_changes(_services: Services, args: EventsMuteArgs) -> tuple[WriteConfig, ...]:
    where = "in all panes" if args.pane is None else f"in pane {args.pane}"
    return (WriteConfig(change="mute", name=args.what, value=f"{where} {args.lasting or 'without end'}"),)


OP = Operation(
    name="events_mute",
    summary="Mute a rule or an event type.",
    doc="""Matching detections are still stored, so the history is complete, but as handled by the mute: they send no
webhook and start no workflow. Earlier detections are not changed. Muting the same again replaces the end. To disable a
rule completely, use the setting `patterns_disabled`. A program needs approval.""",
    run=run,
    render_text=render_text,
    effect="change",
    list_changes=_list_changes,
    examples=(
        OperationExample("events mute usage.warning --for 2h", "no warnings for two hours"),
        OperationExample("events mute 'shell.*' --pane 7", "all detections of the shell rules in pane 7"),
    ),
)
