"""The op `search_history`: find text in everything that was ever printed."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.transcript_message import MessageRole
from termvisor.model.terminal.output import TextSource
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchRanking
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import (
    BaseListing,
    PaneFilter,
    PaneIdentity,
    build_filters,
    build_unknown_identity,
    compute_age,
    format_optional_timestamp,
    identify_all_panes,
    parse_time_filter,
    resolve_pane_id,
)
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize
from termvisor.redaction import Redactor

_SNIPPET_CONTEXT_CHARS = 60
"""Characters of a snippet before and after the first match."""


class SearchHistoryArgs(Struct, frozen=True, kw_only=True):
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
    rank: Annotated[SearchRanking, Meta(description="Newest first, or best match first.")] = "recency"
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
    role: MessageRole | None = None
    agent: str | None = None


class HitsSummary(Struct, frozen=True, kw_only=True):
    """``is_complete`` is false when there may be older hits that were not looked at."""

    hits: int
    panes: int
    is_complete: bool


class HitListing(BaseListing, frozen=True, kw_only=True):
    """What was found: newest first, or best first."""

    summary: HitsSummary
    items: tuple[HitItem, ...]


async def run(services: Services, args: SearchHistoryArgs) -> HitListing:
    now = services.clock.now()
    await services.panes.wait_until_stored()
    found = await services.history.search(
        SearchQuery(
            text=args.text,
            pane=await resolve_pane_id(services, args.pane),
            since=parse_time_filter(args.since, now),
            until=parse_time_filter(args.until, now),
            rank=args.rank,
            limit=args.limit,
            context=args.context,
        )
    )
    who = await identify_all_panes(services)
    items = tuple(_build_hit_item(hit, who, now, is_snippet=args.snippets) for hit in found.hits)
    given = build_filters(text=args.text, pane=args.pane, since=args.since, until=args.until, rank=args.rank)
    summary = HitsSummary(
        hits=len(items), panes=len({item.identity.id for item in items}), is_complete=found.is_complete
    )
    return HitListing(generated_at=format_timestamp(now), filters=given, summary=summary, items=items)


def _build_hit_item(hit: SearchHit, identities: dict[int, PaneIdentity], now: int, *, is_snippet: bool) -> HitItem:
    line = hit.line
    rows = Redactor().redact_lines([*hit.before, line.text, *hit.after])
    before, text, after = rows[: len(hit.before)], rows[len(hit.before)], rows[len(hit.before) + 1 :]
    # Where redaction changed the line, the positions no longer fit it.
    spans = hit.spans if text == line.text else ()
    text, spans = cut_snippet(text, spans) if is_snippet else (text, spans)
    return HitItem(
        identity=identities.get(line.pane) or build_unknown_identity(line.pane),
        source=line.source,
        number=line.number if hit.screen is None and hit.utterance is None else None,
        at=format_timestamp(line.at),
        age=compute_age(line.at, now),
        text=text,
        spans=spans,
        before=tuple(before),
        after=tuple(after),
        screen=hit.screen,
        last_at=format_optional_timestamp(hit.last_at),
        role=hit.role,
        agent=hit.agent,
    )


def cut_snippet(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece around the first match, with the spans that lie in it."""
    start = max(0, spans[0][0] - _SNIPPET_CONTEXT_CHARS) if spans else 0
    end = min(len(text), (spans[0][1] if spans else start) + _SNIPPET_CONTEXT_CHARS)
    lead = "…" if start else ""
    moved = tuple((a - start + len(lead), b - start + len(lead)) for a, b in spans if a >= start and b <= end)
    return lead + text[start:end] + ("…" if end < len(text) else ""), moved


def render_text(result: HitListing, options: RenderOptions) -> str:
    groups = [_render_hit(item, options) for item in result.items]
    has_context = any(item.before or item.after for item in result.items)
    rows = ("\n--\n" if has_context else "\n").join(groups)
    if options.is_quiet:
        return rows
    told = pluralize(result.summary.hits, "hit")
    more = "" if result.summary.is_complete else "; there may be more, narrow the question"
    return f"{rows}\n\n{told}{more}" if groups else f"Nothing found{more}."


def _render_hit(item: HitItem, options: RenderOptions) -> str:
    who = f"{item.identity.id} {item.identity.session_name}"
    place = _format_location(item)
    where = "" if item.number is not None else f", {place}" if item.role is not None else f" on {place}"
    head = options.paint("cyan", sanitize(f"{who} {format_age(item.age)} ago{where}"))
    if options.format == "markdown":
        rows = "\n".join([*item.before, item.text, *item.after])
        return f"- **{sanitize(who)}**, {place}, {item.at}: `` {sanitize(rows)} ``"
    indent = "    "
    around = [[indent + sanitize(row) for row in part] for part in (item.before, item.after)]
    return "\n".join([*around[0], f"{head}: {_highlight_spans(item, options)}", *around[1]])


def _format_location(item: HitItem) -> str:
    if item.role is not None:
        return f"user to {item.agent}" if item.role == "user" else f"{item.agent}"
    return f"line {item.number}" if item.screen is None else f"screen {item.screen}"


def _highlight_spans(item: HitItem, options: RenderOptions) -> str:
    parts, position = [], 0
    for start, end in item.spans:
        parts += [sanitize(item.text[position:start]), options.paint("yellow", sanitize(item.text[start:end]))]
        position = max(position, end)
    return "".join([*parts, sanitize(item.text[position:])])


OP = Operation(
    name="search_history",
    aliases=("search", "query"),
    robot_name="search",
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
    args_type=SearchHistoryArgs,
    result_type=HitListing,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("search error since:1h", "every line with `error` of the last hour"),
        OperationExample("search '\"usage limit\"' --pane 7 -C 2", "a phrase in one pane, with two lines around it"),
        OperationExample(
            "search proceed source:screen -C 3", "what agents asked on their screens, with the rows around it"
        ),
        OperationExample("search migration role:user agent:claude_code", "what somebody asked an agent for"),
        OperationExample("search event:usage.* since:today", "where usage limits were told today"),
        OperationExample("robot search panic* --limit 5 --snippets", "short pieces, as JSON"),
    ),
)
