"""The op `events_mute`: what fits is stored and counts as handled at once."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import parse_when
from termvisor.errors import BadRequest
from termvisor.model.detection.detection import Mute
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.events._detection_item import check_name
from termvisor.ops.events.events_ack import caller
from termvisor.ops.panes._listing import PaneFilter, instant, named_id
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact

_SHAPE = re.compile(r"[\w.*?\[\]!-]{1,120}", re.ASCII)
_SPAN = re.compile(r"\d+(?:\.\d+)?[smhdw]", re.ASCII)


class EventsMute(Struct, frozen=True, kw_only=True):
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


async def run(world: ActingWorld, wanted: EventsMute) -> MuteItem:
    if not _SHAPE.fullmatch(wanted.what):
        raise BadRequest(f"{wanted.what[:80]!r} is no rule, type or glob", hint="For example `usage.warning`.")
    pane, now = await named_id(world, wanted.pane), world.clock.now()
    if not wanted.what.strip("*?.") and pane is None:
        raise BadRequest("this would mute everything, everywhere", hint="Name a rule or a type, or give a --pane.")
    check_name(wanted.what, world.detections.rules.values())
    mute = Mute(what=wanted.what, pane=pane, at=now, until=_until(wanted.lasting, now), by=caller(world.door.actor))
    return mute_item(await world.detections.mutes.add(mute))


def _until(text: str | None, now: int) -> int | None:
    if text is None:
        return None
    if not _SPAN.fullmatch(text):
        raise BadRequest(f"{text[:40]!r} is no span of time", hint="For example --for 2h.")
    return 2 * now - parse_when(text, now)


def mute_item(one: Mute) -> MuteItem:
    return MuteItem(
        id=one.id,
        what=redact(one.what),
        pane=one.pane,
        since=instant(one.at) or "",
        until=instant(one.until),
        by=redact(one.by),
    )


def plain(one: MuteItem, look: Look) -> str:
    where = "everywhere" if one.pane is None else f"in pane {one.pane}"
    until = "until `visor events unmute " + str(one.id) + "`" if one.until is None else f"until {one.until}"
    return clean(f"mute {one.id}: {one.what} {where}, {until}")


OP = Op(
    name="events_mute",
    summary="Have a rule or a type of events count as handled.",
    doc="""What fits is still found and stored, so the history is whole; it counts as handled by the mute, nobody is
told of it by a webhook, and no workflow begins because of it. What was found before stays as it is. The same muted
again has the new end. To switch a rule off altogether, use the setting `patterns_disabled`.""",
    Input=EventsMute,
    Output=MuteItem,
    run=run,
    plain=plain,
    effect="change",
    examples=(
        Example("events mute usage.warning --for 2h", "no warnings for two hours"),
        Example("events mute 'shell.*' --pane 7", "whatever the shell rules find in pane 7"),
    ),
)
