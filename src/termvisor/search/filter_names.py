"""Resolve the names in filters of a query: sessions, targets and agents to pane ids, detection filters to their lines.

Invariant: a name that is neither known to the caller nor stored raises an error. Without that, a misspelled filter
would look like a search without hits.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from termvisor.errors import BadRequest, NotFound
from termvisor.model.did_you_mean import find_close_matches
from termvisor.model.ids import PaneId
from termvisor.search import query_tree
from termvisor.store.sqlite.database import get_tokenizer
from termvisor.store.tables.search_queries import SearchReader

MAX_EVENTS = 500
"""Maximum number of events, the newest ones, that an event, rule or severity filter resolves to."""
KnownNames = Mapping[str, Iterable[str]]
"""Valid names by filter, in addition to the stored ones: an agent that has not run yet, a rule that never matched."""


def resolve_names(node: query_tree.QueryNode, reader: SearchReader, known: KnownNames) -> query_tree.QueryNode:
    """Return the tree with names replaced by pane ids, and detection filters by the lines of their events.

    Raises NotFound for an unknown pane, BadRequest with the closest names for any other unknown name.
    """
    match node:
        case query_tree.PanesNode(panes):
            _check_panes(panes, reader)
            return node
        case query_tree.NamedPanesNode(kind, name):
            found = reader.find_panes_by(kind, name)
            if not found:
                _check_name(kind, name, reader, known)
            return query_tree.AgentNode(name, found) if kind == "agent" else query_tree.PanesNode(found)
        case query_tree.DetectionNode(kind, pattern):
            detected = reader.find_detected_lines(kind, pattern, MAX_EVENTS)
            if not detected and kind != "severity":
                _check_name(kind, pattern, reader, known)
            return _build_event_lines(detected)
        case query_tree.NotNode(part):
            return query_tree.NotNode(resolve_names(part, reader, known))
        case query_tree.AndNode(parts):
            return query_tree.AndNode(tuple(resolve_names(part, reader, known) for part in parts))
        case query_tree.OrNode(parts):
            return query_tree.OrNode(tuple(resolve_names(part, reader, known) for part in parts))
        case _:
            return node


def _build_event_lines(detected: Iterable[tuple[PaneId, str]]) -> query_tree.QueryNode:
    split = get_tokenizer()
    lines = ((pane, tuple(word for _, _, word in split(text))) for pane, text in detected)
    return query_tree.EventLinesNode(frozenset((pane, words) for pane, words in lines if words))


def _check_panes(panes: Iterable[PaneId], reader: SearchReader) -> None:
    for pane in panes:
        if not reader.has_pane(pane):
            hint = "`visor list-panes --gone` shows all panes, also closed ones."
            raise NotFound(f"pane {pane} not found", hint=hint)


def _check_name(kind: query_tree.NamedFilter, name: str, reader: SearchReader, known: KnownNames) -> None:
    """Raise BadRequest if no known or stored name matches; the name of an event or rule may be a glob."""
    names = sorted({*known.get(kind, ()), *reader.list_names(kind)})
    if any(fnmatchcase(each, name) for each in names):
        return
    near = find_close_matches(name, names)
    hint = f"Did you mean {kind}:{near[0]}?" if near else f"Known: {', '.join(names[:20]) or 'none yet'}."
    raise BadRequest(f"unknown {kind} {name!r}", hint=hint, details={"nearest": near})
