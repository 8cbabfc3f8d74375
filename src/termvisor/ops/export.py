"""The op `export`: everything a pane printed, as text, as one JSON object a line, or as the bytes themselves.

Every way out redacts again; only `--unredacted` gives raw bytes as they are, and that is logged.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.errors import BadRequest
from termvisor.log import logger
from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.base import Example, Op
from termvisor.ops.cursor import BEFORE_ALL
from termvisor.ops.listing import moment, named
from termvisor.ops.look import Look, clean, clean_lines
from termvisor.ops.masking import Masking
from termvisor.ops.world import World
from termvisor.redact import Redactor

_PAGE = 1000
ExportForm = Literal["text", "jsonl", "raw"]


class Export(Struct, frozen=True, kw_only=True):
    """What to export, and in which form; text where none is named."""

    pane: Annotated[
        str | None, Meta(description="The pane; any reference. Without it: all panes.", extra={"positional": "one"})
    ] = None
    text: Annotated[bool, Meta(description="Plain lines (the default).")] = False
    jsonl: Annotated[bool, Meta(description="One JSON object a line, with pane, number and time.")] = False
    raw: Annotated[bool, Meta(description="The bytes of one pane, with escapes.")] = False
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    unredacted: Annotated[bool, Meta(description="With --raw: secrets stay in. This is logged.")] = False
    output: Annotated[
        str | None, Meta(description="Write to this file (made private) instead.", extra={"short": ("-o",)})
    ] = None


class Piece(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line, or some raw bytes (base64 in JSON)."""

    form: ExportForm
    pane: int
    at: str
    number: int | None = None
    text: str | None = None
    epoch: int | None = None
    data: bytes | None = None


async def run(world: World, wanted: Export) -> AsyncIterator[Piece]:
    form = _form(wanted)
    since = moment(wanted.since, world.clock.now())
    await world.fleet.settle()
    if wanted.pane is None:
        panes = [pane.id for pane in await world.fleet.panes(gone=True)]
    else:
        panes = [(await named(world, wanted.pane)).id]
    if wanted.unredacted:
        logger("ops").warning("raw bytes of pane %s were exported without redaction", panes[0])
    for pane in panes:
        async for piece in _raw(world, pane, since, wanted) if form == "raw" else _lines(world, pane, since, form):
            yield piece


def _form(wanted: Export) -> ExportForm:
    asked: list[ExportForm] = []
    for form in ("text", "jsonl", "raw"):
        asked += [form] if getattr(wanted, form) else []
    if len(asked) > 1:
        raise BadRequest(f"choose one of {', '.join('--' + form for form in asked)}")
    form = asked[0] if asked else "text"
    if form == "raw" and wanted.pane is None:
        raise BadRequest("--raw needs a pane: the bytes of several panes make no sense in one file")
    if wanted.unredacted and form != "raw":
        raise BadRequest("--unredacted goes with --raw: stored text never holds secrets")
    return form


async def _lines(world: World, pane: PaneId, since: int | None, form: ExportForm) -> AsyncIterator[Piece]:
    after, redactor = BEFORE_ALL, Redactor()
    while lines := await world.history.lines(pane, after=after, limit=_PAGE):
        after = lines[-1].number
        texts = redactor.lines([line.text for line in lines])
        for line, text in zip(lines, texts, strict=True):
            if since is None or line.at >= since:
                yield Piece(form=form, pane=line.pane, at=iso(line.at), number=line.number, text=text)


async def _raw(world: World, pane: PaneId, since: int | None, wanted: Export) -> AsyncIterator[Piece]:
    masking, epoch, at = Masking(), EpochId(0), 0
    async for delta in world.history.raw(pane, since=since):
        if delta.epoch != epoch and (rest := masking.finish()):
            yield _bytes(pane, epoch, at, rest)
        epoch, at = delta.epoch, delta.at
        data = delta.data if wanted.unredacted else masking.feed(delta.data)
        if data:
            yield _bytes(pane, epoch, at, data)
    if rest := masking.finish():
        yield _bytes(pane, epoch, at, rest)


def _bytes(pane: PaneId, epoch: EpochId, at: int, data: bytes) -> Piece:
    return Piece(form="raw", pane=pane, at=iso(at), epoch=epoch, data=data)


def plain(piece: Piece, look: Look) -> str | bytes:
    if piece.data is not None:
        # A terminal would obey whatever the pane's program once said.
        return clean_lines(piece.data.decode("utf-8", "replace")).encode() if look.is_terminal else piece.data
    if piece.form == "jsonl":
        return msgspec.json.encode(piece).decode()
    return clean(piece.text or "")


OP = Op(
    name="export",
    robot="export",
    summary="Everything a pane printed: text, JSON lines, or the bytes.",
    doc="""Lines come in order, pane after pane. `--raw` gives the bytes with their escapes, epoch after epoch; lines
of them that hold a recognised secret are replaced by their redacted text, unless `--unredacted` is given. On a
terminal raw bytes are shown without control characters. With `--format json`, raw bytes come in base64.""",
    Input=Export,
    Output=Piece,
    run=run,
    plain=plain,
    is_stream=True,
    examples=(
        Example("export 7 --text > pane7.txt", "all lines of one pane"),
        Example("export --jsonl --since today --output today.jsonl", "today's lines of all panes"),
        Example("export 7 --raw --output pane7.raw", "the bytes, secrets taken out"),
    ),
)
