"""The op `search_history`: find text in everything that was ever printed."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso
from termvisor.model.agent.transcript_message import Role
from termvisor.model.terminal.output import TextSource
from termvisor.model.terminal.search_query import Hit, Question, Rank
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import (
    Listing,
    PaneFilter,
    PaneIdentity,
    age_of,
    filters,
    identities,
    instant,
    moment,
    named_id,
    nobody,
)
from termvisor.ops.render.text import Look, age, clean, counted
from termvisor.redaction import Redactor

_AROUND = 60
"""Characters of a snippet before and after the first match."""


class SearchHistory(Struct, frozen=True, kw_only=True):
    """The question."""

    text: Annotated[
        str,
        Meta(
            description='Words, "phrases", prefix*, AND OR NOT, and filters such as pane:7 session:work since:10m.',
            extra={"positional": "rest"},
        ),
    ]
    limit: Annotated[int, Meta(description="At most so many hits.", ge=1, le=10_000, extra={"short": ("-n",)})] = 20
    pane: PaneFilter = None
    since: Annotated[str | None, Meta(description="Not older than this: ISO 8601, today, or an age such as 10m.")] = (
        None
    )
    until: Annotated[str | None, Meta(description="Not newer than this.")] = None
    snippets: Annotated[bool, Meta(description="A short piece around the match instead of the whole line.")] = False
    rank: Annotated[Rank, Meta(description="Newest first, or best match first.")] = "recency"
    context: Annotated[
        int, Meta(description="Lines before and after each hit.", ge=0, le=100, extra={"short": ("-C",)})
    ] = 0


class HitItem(Struct, frozen=True, kw_only=True):
    """``spans`` are the (start, end) characters of ``text`` that matched; ``number`` is the line's number.

    A row that a repainting program showed has no number: it was first seen ``at`` and last at ``last_at``, and stood
    in the stored ``screen`` that `get-screen --at` shows; ``before`` and ``after`` are the rows around it there. Nor
    has a line of what was said in a conversation: by whom says its ``role``, with whom its ``agent``.
    """

    identity: PaneIdentity
    source: TextSource
    number: int | None
    at: str
    age: float | None
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    screen: int | None = None
    last_at: str | None = None
    role: Role | None = None
    agent: str | None = None


class HitsSummary(Struct, frozen=True, kw_only=True):
    """``is_complete`` is false when there may be older hits that were not looked at."""

    hits: int
    panes: int
    is_complete: bool


class HitListing(Listing, frozen=True, kw_only=True):
    """What was found: newest first, or best first."""

    summary: HitsSummary
    items: tuple[HitItem, ...]


async def run(world: World, wanted: SearchHistory) -> HitListing:
    now = world.clock.now()
    await world.fleet.settle()
    found = await world.history.search(
        Question(
            text=wanted.text,
            pane=await named_id(world, wanted.pane),
            since=moment(wanted.since, now),
            until=moment(wanted.until, now),
            rank=wanted.rank,
            limit=wanted.limit,
            context=wanted.context,
        )
    )
    who = await identities(world)
    items = tuple(_item(hit, who, now, is_short=wanted.snippets) for hit in found.hits)
    given = filters(text=wanted.text, pane=wanted.pane, since=wanted.since, until=wanted.until, rank=wanted.rank)
    summary = HitsSummary(
        hits=len(items), panes=len({item.identity.id for item in items}), is_complete=found.is_complete
    )
    return HitListing(generated_at=iso(now), filters=given, summary=summary, items=items)


def _item(hit: Hit, who: dict[int, PaneIdentity], now: int, *, is_short: bool) -> HitItem:
    line = hit.line
    rows = Redactor().lines([*hit.before, line.text, *hit.after])
    before, text, after = rows[: len(hit.before)], rows[len(hit.before)], rows[len(hit.before) + 1 :]
    # Where redaction changed the line, the positions no longer fit it.
    spans = hit.spans if text == line.text else ()
    text, spans = snippet(text, spans) if is_short else (text, spans)
    return HitItem(
        identity=who.get(line.pane) or nobody(line.pane),
        source=line.source,
        number=line.number if hit.screen is None and hit.utterance is None else None,
        at=iso(line.at),
        age=age_of(line.at, now),
        text=text,
        spans=spans,
        before=tuple(before),
        after=tuple(after),
        screen=hit.screen,
        last_at=instant(hit.last_at),
        role=hit.role,
        agent=hit.agent,
    )


def snippet(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece around the first match, with the spans that lie in it."""
    start = max(0, spans[0][0] - _AROUND) if spans else 0
    end = min(len(text), (spans[0][1] if spans else start) + _AROUND)
    lead = "…" if start else ""
    moved = tuple((a - start + len(lead), b - start + len(lead)) for a, b in spans if a >= start and b <= end)
    return lead + text[start:end] + ("…" if end < len(text) else ""), moved


def plain(listing: HitListing, look: Look) -> str:
    groups = [_shown(item, look) for item in listing.items]
    has_context = any(item.before or item.after for item in listing.items)
    rows = ("\n--\n" if has_context else "\n").join(groups)
    if look.is_quiet:
        return rows
    told = counted(listing.summary.hits, "hit")
    more = "" if listing.summary.is_complete else "; there may be more, narrow the question"
    return f"{rows}\n\n{told}{more}" if groups else f"Nothing found{more}."


def _shown(item: HitItem, look: Look) -> str:
    who = f"{item.identity.id} {item.identity.session_name}"
    place = _place(item)
    where = "" if item.number is not None else f", {place}" if item.role is not None else f" on {place}"
    head = look.paint("cyan", clean(f"{who} {age(item.age)} ago{where}"))
    if look.form == "markdown":
        rows = "\n".join([*item.before, item.text, *item.after])
        return f"- **{clean(who)}**, {place}, {item.at}: `` {clean(rows)} ``"
    indent = "    "
    around = [[indent + clean(row) for row in part] for part in (item.before, item.after)]
    return "\n".join([*around[0], f"{head}: {_marked(item, look)}", *around[1]])


def _place(item: HitItem) -> str:
    if item.role is not None:
        return f"user to {item.agent}" if item.role == "user" else f"{item.agent}"
    return f"line {item.number}" if item.screen is None else f"screen {item.screen}"


def _marked(item: HitItem, look: Look) -> str:
    parts, position = [], 0
    for start, end in item.spans:
        parts += [clean(item.text[position:start]), look.paint("yellow", clean(item.text[start:end]))]
        position = max(position, end)
    return "".join([*parts, clean(item.text[position:])])


OP = Op(
    name="search_history",
    aliases=("search", "query"),
    robot="search",
    summary="Find text in all that panes printed or showed and agents were told or said.",
    doc="""Words find whole words and parts of identifiers (`limit` finds `usage_limit`); quotes make a phrase, `*`
a prefix, AND OR NOT combine. Filters may stand in the question: `pane: session: target: agent: role: since: until:
source: event: rule: severity:`. With the last three, lines are found in which an event of that type was detected
(`usage.*` is a glob), by that rule, or at least so severe; they need no word beside them.
`source:stream` is what was printed, `source:screen` what programs that repaint (editors, full-screen agents) showed:
such a hit names its stored screen, which `get-screen <pane> --at <screen>` shows, and when it was first and last seen;
`since:` and `until:` then ask whether it was on the screen in that time. `source:transcript` is what people and agents
said to each other, as the agent itself wrote it down, `role:user` and `role:assistant` by whom; what tools answered is
not in it.""",
    Input=SearchHistory,
    Output=HitListing,
    run=run,
    plain=plain,
    examples=(
        Example("search error since:1h", "every line with `error` of the last hour"),
        Example("search '\"usage limit\"' --pane 7 -C 2", "a phrase in one pane, with two lines around it"),
        Example("search proceed source:screen -C 3", "what agents asked on their screens, with the rows around it"),
        Example("search migration role:user agent:claude_code", "what somebody asked an agent for"),
        Example("search event:usage.* since:today", "where usage limits were told today"),
        Example("robot search panic* --limit 5 --snippets", "short pieces, as JSON"),
    ),
)
