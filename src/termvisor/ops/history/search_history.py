"""Operation `search_history`: full-text search in captured output, screens and transcripts."""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp
from termvisor.model.agent.session import MessageRole
from termvisor.model.event import EVENT_TYPES
from termvisor.model.terminal.output import TextSource
from termvisor.model.terminal.search_query import SearchHit, SearchQuery, SearchRanking
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes import _pane_reference
from termvisor.ops.render import results
from termvisor.ops.render.text import RenderOptions, format_age, pluralize, sanitize
from termvisor.redaction import Redactor

_MAX_LIMIT = 10_000
# Characters before and after the first match of a snippet.
_SNIPPET_CONTEXT_CHARS = 60


class SearchHistoryArgs(Struct, frozen=True, kw_only=True):
    """The query and its filters."""

    text: Annotated[
        str,
        Meta(
            description='Words, "phrases", prefix*, AND OR NOT, and filters such as pane:7 session:work since:10m.',
            extra={"positional": "rest"},
        ),
    ]
    limit: Annotated[
        int, Meta(description="Maximum number of hits.", ge=1, le=_MAX_LIMIT, extra={"short": ("-n",)})
    ] = 20
    pane: _pane_reference.PaneFilter = None
    since: Annotated[
        str | None, Meta(description="Only hits since this time: ISO 8601, today, or an age such as 10m.")
    ] = None
    until: Annotated[str | None, Meta(description="Only hits until this time.")] = None
    snippets: Annotated[bool, Meta(description="Show an excerpt around the match instead of the whole line.")] = False
    rank: Annotated[SearchRanking, Meta(description="Newest first, or best match first.")] = "recency"
    context: Annotated[
        int, Meta(description="Lines of context before and after each hit.", ge=0, le=100, extra={"short": ("-C",)})
    ] = 0


class HitItem(Struct, frozen=True, kw_only=True):
    """``spans`` are the (start, end) offsets of the matches in ``text``; ``number`` is the line number.

    A row of a full-screen program has no number: it was first seen ``at`` and last at ``last_at``, in the stored
    ``screen`` that `get-screen --at` shows; ``before`` and ``after`` are the rows around it. A line of a transcript has
    no number either; ``role`` is its author, ``agent`` the agent of the conversation.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("age", "spans")

    identity: _pane_reference.PaneIdentity
    source: TextSource = "stream"
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
    """``is_complete`` is false if there are more hits, or may be: ``more`` says how to get them."""

    hits: int
    panes: int
    is_complete: bool = True
    more: str = ""


class HitListing(results.BaseListing, frozen=True, kw_only=True):
    """Hits, newest first or best match first."""

    summary: HitsSummary
    items: tuple[HitItem, ...]


async def run(services: Services, args: SearchHistoryArgs) -> HitListing:
    now = services.clock.now()
    pane = await _pane_reference.resolve_pane_id(services, args.pane)
    await services.panes.wait_until_stored(pane)
    result = await services.history.search(
        SearchQuery(
            text=args.text,
            pane=pane,
            since=results.parse_time_filter(args.since, now),
            until=results.parse_time_filter(args.until, now),
            rank=args.rank,
            limit=args.limit,
            context=args.context,
            known_names=await _list_known_names(services, args.text),
        )
    )
    identities = await _pane_reference.identify_all_panes(services)
    items = tuple(_build_hit_item(hit, identities, now, is_snippet=args.snippets) for hit in result.hits)
    filters = results.build_filters(text=args.text, pane=args.pane, since=args.since, until=args.until, rank=args.rank)
    summary = HitsSummary(
        hits=len(items),
        panes=len({item.identity.id for item in items}),
        is_complete=result.is_complete,
        more="" if result.is_complete else _suggest_more(args, len(items)),
    )
    return HitListing(generated_at=format_timestamp(now), filters=filters, summary=summary, items=items)


async def _list_known_names(services: Services, query: str) -> dict[str, tuple[str, ...]]:
    """Return the names that the query's filters may have before anything stored has them."""
    # Most queries have no such filter, and listing the agents loads all adapters.
    if not any(f"{name}:" in query for name in ("agent", "rule", "event")):
        return {}
    rules = services.detections.rules.values()
    return {
        "agent": tuple(kind.name for kind in await services.agents.list_kinds()),
        "rule": tuple(rule.id for rule in rules),
        "event": (*EVENT_TYPES, *(rule.event for rule in rules)),
    }


def _suggest_more(args: SearchHistoryArgs, hits: int) -> str:
    """Return how to get the hits that were cut off."""
    if hits < args.limit or args.limit == _MAX_LIMIT:
        return "there may be more: narrow the query, for example with since:1d"
    return f"more: --limit {min(_MAX_LIMIT, 5 * args.limit)}"


def get_hint(result: HitListing) -> str | None:
    return result.summary.more or None


def _build_hit_item(
    hit: SearchHit, identities: _pane_reference.PaneIdentities, now: int, *, is_snippet: bool
) -> HitItem:
    line = hit.line
    # Redacted as one text, because a secret may be wrapped across several lines.
    rows = Redactor().redact_lines([*hit.before, line.text, *hit.after])
    before, text, after = rows[: len(hit.before)], rows[len(hit.before)], rows[len(hit.before) + 1 :]
    # Redaction changed the line, so the offsets no longer apply.
    spans = hit.spans if text == line.text else ()
    text, spans = cut_snippet(text, spans) if is_snippet else (text, spans)
    return HitItem(
        identity=identities[line.pane],
        source=line.source,
        number=line.number if hit.screen is None and hit.utterance is None else None,
        at=format_timestamp(line.at),
        age=results.compute_age(line.at, now),
        text=text,
        spans=spans,
        before=tuple(before),
        after=tuple(after),
        screen=hit.screen,
        last_at=results.format_optional_timestamp(hit.last_at),
        role=hit.role,
        agent=hit.agent,
    )


def cut_snippet(text: str, spans: tuple[tuple[int, int], ...]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return an excerpt around the first match, and the spans inside it."""
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
    more = f"; {hint}" if (hint := get_hint(result)) else ""
    return f"{rows}\n\n{pluralize(result.summary.hits, 'hit')}{more}" if groups else f"No hits{more}."


def _render_hit(item: HitItem, options: RenderOptions) -> str:
    pane = f"{item.identity.id} {item.identity.session_name}"
    location = _format_location(item)
    suffix = "" if item.number is not None else f", {location}" if item.role is not None else f" on {location}"
    head = options.paint("cyan", sanitize(f"{pane} {format_age(item.age)} ago{suffix}"))
    if options.format == "markdown":
        rows = "\n".join([*item.before, item.text, *item.after])
        return f"- **{sanitize(pane)}**, {location}, {item.at}: `` {sanitize(rows)} ``"
    before, after = ([f"    {sanitize(row)}" for row in rows] for rows in (item.before, item.after))
    return "\n".join([*before, f"{head}: {_highlight_spans(item, options)}", *after])


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
    summary="Search the output and screens of all panes and agent transcripts.",
    doc="""Words match whole words and parts of identifiers (`limit` finds `usage_limit`). In Chinese, Japanese, Korean,
Thai and other scripts without blanks every part of a word matches; an emoji is a word. Quotes make a phrase, `*` a
prefix; combine terms with AND, OR, NOT. The query may contain filters: `pane: session: target: agent: role: since:
until: source: event: rule: severity:`. The last three match lines with a detection of that event type (a glob such as
`usage.*`), by that rule, or of at least that severity; they need no other word.

`source:stream` searches printed lines. `source:screen` searches screens of full-screen programs (editors, agents): such
a hit has the id of its stored screen, for `get-screen <pane> --at <screen>`, and the times when it was first and last
seen; `since:` and `until:` then select rows that were visible in that period. `source:transcript` searches the
conversations that agents store, by `role:user` and `role:assistant`; results of tools are not included.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    get_hint=get_hint,
    get_exit_status=lambda result: 0 if result.items else 1,
    exit_statuses=(
        (0, "At least one hit."),
        (1, "No hit."),
        (2, "The query is malformed, or names an unknown session, target, agent, rule or event."),
        (4, "Pane not found."),
    ),
    examples=(
        OperationExample("search error since:1h", "find `error` in the last hour"),
        OperationExample(
            "search '\"usage limit\"' --pane 7 -C 2", "find a phrase in one pane, with two lines of context"
        ),
        OperationExample("search proceed source:screen -C 3", "search screens, with three rows of context"),
        OperationExample("search migration role:user agent:claude_code", "search prompts to one kind of agent"),
        OperationExample("search event:usage.* since:today", "find today's usage limit detections"),
        OperationExample("robot search panic* --limit 5 --snippets", "show excerpts, as JSON"),
    ),
)
