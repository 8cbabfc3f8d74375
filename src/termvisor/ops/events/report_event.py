"""The operation `report_event`: store a user variable that a terminal's hook received."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events._event_item import EventItem, build_event_item
from termvisor.ops.panes._pane_reference import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class ReportEventArgs(Struct, frozen=True, kw_only=True):
    """The user variable and its pane."""

    pane: Annotated[str, Meta(description="The pane; any reference.")]
    name: Annotated[str, Meta(description="The variable's name: visor-ready, visor-checkpoint, visor-…")]
    value: Annotated[str, Meta(description="Its value: JSON, or JSON in base64, at most 4 KB.")]
    from_uservar: Annotated[bool, Meta(description="Report a user variable; required.")] = False


class ReportEventResult(Struct, frozen=True, kw_only=True):
    """``event`` is the stored event; null if the pane exceeds its rate limit; its next event counts these reports."""

    identity: PaneIdentity
    event: EventItem | None


async def run(services: Services, args: ReportEventArgs) -> ReportEventResult:
    if not args.from_uservar:
        raise BadRequest("the kind of report is missing", hint="Pass --from-uservar; no other kind is supported.")
    pane = await resolve_pane(services, args.pane)
    stored = await services.updates.report_user_variable(pane.id, args.name, args.value)
    return ReportEventResult(identity=identify_pane(pane), event=None if stored is None else build_event_item(stored))


def render_text(result: ReportEventResult, options: RenderOptions) -> str:
    if result.event is None:
        return f"pane {result.identity.id} exceeds its rate limit; the event was counted, not stored"
    data = result.event.data
    proof = "proven" if data["proven"] else "not proven"
    return f"event {result.event.cursor}: {sanitize(str(data['name']))} of pane {result.identity.id}, {proof}"


OP = Operation(
    name="report_event",
    aliases=("event",),
    robot_name="event",
    summary="Store a user variable that a terminal received in a pane.",
    doc="""For hooks of terminals, such as WezTerm's `user-var-changed`. Names begin with `visor-`; the kind is
`prompt`, `ready` or `checkpoint` where the name says so (`visor-ready`, `visor-ready-build`), else `event`. The value
is JSON. It is stored as the event `user_var`, redacted, as if a program had printed it (OSC 1337 SetUserVar) in a
captured pane. Any program can send one: `proven` is true only if the JSON holds our nonce as `nonce` (which is not
stored); other reports start no workflow. More than 10 per second of one pane are counted, not stored.""",
    run=run,
    render_text=render_text,
    effect="change",
    examples=(
        OperationExample(
            """event --from-uservar --pane 7 --name visor-ready --value '{"port":8080}'""", "report a ready port"
        ),
        OperationExample(
            "event --from-uservar --pane %5 --name visor-checkpoint --value eyJzdGVwIjozfQ==", "in base64, from a hook"
        ),
    ),
)
