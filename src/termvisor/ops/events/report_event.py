"""The op `report_event`: a terminal's hook hands on a user variable that it heard."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.events.list_events import EventItem, build_event_item
from termvisor.ops.panes._listing import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class ReportEventArgs(Struct, frozen=True, kw_only=True):
    """What was heard, and in which pane."""

    pane: Annotated[str, Meta(description="The pane; any reference.")]
    name: Annotated[str, Meta(description="The variable's name: visor-ready, visor-checkpoint, visor-…")]
    value: Annotated[str, Meta(description="Its value: JSON, or JSON in base64, at most 4 KB.")]
    from_uservar: Annotated[bool, Meta(description="It is a user variable; must be given.")] = False


class ReportEventResult(Struct, frozen=True, kw_only=True):
    """``event`` is what was stored; null when the pane reports too much, which is counted in its next event."""

    identity: PaneIdentity
    event: EventItem | None


async def run(services: Services, args: ReportEventArgs) -> ReportEventResult:
    if not args.from_uservar:
        raise BadRequest("say what kind of report this is", hint="Only --from-uservar is known.")
    pane = await resolve_pane(services, args.pane)
    stored = await services.updates.report_user_variable(pane.id, args.name, args.value)
    return ReportEventResult(identity=identify_pane(pane), event=None if stored is None else build_event_item(stored))


def render_text(result: ReportEventResult, options: RenderOptions) -> str:
    if result.event is None:
        return f"pane {result.identity.id} reports too much; this one was only counted"
    data = result.event.data
    proof = "proven" if data["proven"] else "not proven"
    return f"event {result.event.cursor}: {sanitize(str(data['name']))} of pane {result.identity.id}, {proof}"


OP = Operation(
    name="report_event",
    aliases=("event",),
    robot_name="event",
    summary="Record a user variable that a terminal heard in a pane.",
    doc="""For hooks of terminals, such as WezTerm's `user-var-changed`. Names begin with `visor-`; the kind is
`prompt`, `ready` or `checkpoint` where the name says so (`visor-ready`, `visor-ready-build`), else `event`. The value
is JSON. It is recorded as the event `user_var`, redacted, exactly as when a program prints it (OSC 1337 SetUserVar) in
a pane that we read. Anybody can say such a thing: `proven` is true only when the JSON holds our nonce as `nonce`, which
is not stored; anything else is a hint that starts nothing. More than 10 a second of one pane are only counted.""",
    args_type=ReportEventArgs,
    result_type=ReportEventResult,
    run=run,
    render_text=render_text,
    effect="change",
    examples=(
        OperationExample(
            """event --from-uservar --pane 7 --name visor-ready --value '{"port":8080}'""", "something is ready"
        ),
        OperationExample(
            "event --from-uservar --pane %5 --name visor-checkpoint --value eyJzdGVwIjozfQ==", "as a hook gives it"
        ),
    ),
)
