"""The op `events_mute`: what fits is stored and counts as handled at once."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import parse_timestamp
from termvisor.errors import BadRequest
from termvisor.model.detection.detection import DetectionMute
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.events._event_item import check_rule_or_type
from termvisor.ops.events.events_ack import format_caller
from termvisor.ops.panes._listing import PaneFilter, format_optional_timestamp, resolve_pane_id
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

_NAME_PATTERN = re.compile(r"[\w.*?\[\]!-]{1,120}", re.ASCII)
_DURATION_PATTERN = re.compile(r"\d+(?:\.\d+)?[smhdw]", re.ASCII)


class EventsMuteArgs(Struct, frozen=True, kw_only=True):
    """What, where and for how long."""

    what: Annotated[
        str,
        Meta(
            description="A rule, a type, or a glob of either: codex.usage.*, usage.warning.",
            extra={"positional": "one"},
        ),
    ]
    pane: PaneFilter = None
    lasting: Annotated[
        str | None,
        Meta(
            description="For so long, such as 2h or 7d; without it, until `events unmute`.", extra={"also": ("--for",)}
        ),
    ] = None


class MuteItem(Struct, frozen=True, kw_only=True):
    """``pane`` is null where it holds for all, ``until`` where it holds until it is ended."""

    id: int
    what: str
    pane: int | None
    since: str
    until: str | None
    by: str


async def run(services: ActingServices, args: EventsMuteArgs) -> MuteItem:
    if not _NAME_PATTERN.fullmatch(args.what):
        raise BadRequest(f"{args.what[:80]!r} is no rule, type or glob", hint="For example `usage.warning`.")
    pane, now = await resolve_pane_id(services, args.pane), services.clock.now()
    if not args.what.strip("*?.") and pane is None:
        raise BadRequest("this would mute everything, everywhere", hint="Name a rule or a type, or give a --pane.")
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
        raise BadRequest(f"{text[:40]!r} is no span of time", hint="For example --for 2h.")
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
    where = "everywhere" if result.pane is None else f"in pane {result.pane}"
    until = "until `visor events unmute " + str(result.id) + "`" if result.until is None else f"until {result.until}"
    return sanitize(f"mute {result.id}: {result.what} {where}, {until}")


OP = Operation(
    name="events_mute",
    summary="Have a rule or a type of events count as handled.",
    doc="""What fits is still found and stored, so the history is whole; it counts as handled by the mute, nobody is
told of it by a webhook, and no workflow begins because of it. What was found before stays as it is. The same muted
again has the new end. To switch a rule off altogether, use the setting `patterns_disabled`.""",
    args_type=EventsMuteArgs,
    result_type=MuteItem,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(
        OperationExample("events mute usage.warning --for 2h", "no warnings for two hours"),
        OperationExample("events mute 'shell.*' --pane 7", "whatever the shell rules find in pane 7"),
    ),
)
