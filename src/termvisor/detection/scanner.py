"""Which rules match which lines.

In: settled, redacted lines of one pane. Out: matches, each with its line, span and captures. One block scan tells
whether anything is there at all; only lines that hit are read by ``re``, whose word is final, so that the result is
the same whichever engine scans. However lines are divided among calls, the matches are the same.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from termvisor.detection.joined_lines import MAX_LINE_CHARS, JoinedRows, has_cut_line, join_lines
from termvisor.detection.packs.pattern_match import (
    WINDOW_LINES,
    compile_pattern,
    extract_captures,
    find_match_ending_after,
    has_anchor,
)
from termvisor.model.detection.rule import Rule
from termvisor.regex import EngineName, PatternMatcher, compile_patterns
from termvisor.regex.relax import relax_pattern

OVERLAP_CHARS = 512
"""A match in a row longer than `CUT` is found if it is at most this long."""


class ScanMatch(Struct, frozen=True):
    """``line`` is where it ends; ``start`` is below zero where it began on a line before."""

    rule: Rule
    line: int
    start: int
    end: int
    captures: dict[str, str]


class RuleScanner:
    """The given rules, those of scope `stream` over up to four lines, all others on one line each.

    ``cache`` is the folder for what takes long to compile; nothing is compiled before the first text.
    """

    def __init__(self, rules: Sequence[Rule], *, engine: EngineName = "auto", cache: str | None = None):
        self.rules = {rule.id: rule for rule in rules}
        self._stream_rule_ids = frozenset(rule.id for rule in rules if rule.scope == "stream")
        self._engine: EngineName = engine
        self._cache = cache
        self._matcher: PatternMatcher | None = None

    @property
    def patterns(self) -> dict[str, str]:
        """What the engine scans for, by id of the rule."""
        return {rule.id: relax_pattern(rule.pattern) for rule in self.rules.values()}

    def compile_now(self) -> None:
        """Compile now."""
        if self.rules and self._matcher is None:
            self._matcher = compile_patterns(self.patterns, self._engine, cache_folder=self._cache)

    def scan_lines(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[ScanMatch]:
        """What ends on one of these lines. ``before`` are the up to three lines that came before them."""
        lines = [*before[1 - WINDOW_LINES :], *texts]
        whole = "\n".join(lines)
        joined = join_lines(lines) if has_cut_line(whole) else None
        hits = self._find_rule_ids("\n".join(joined.texts) if joined else whole) if texts else frozenset()
        if not hits:
            return []
        rows = joined or JoinedRows(lines, range(len(lines)), ())
        known = len(lines) - len(texts)
        found = [match for match in self._find_matches(rows, hits) if match.line >= known]
        return sorted((_shift_match(match, known) for match in found), key=lambda match: (match.line, match.start))

    def scan_row(self, text: str) -> list[ScanMatch]:
        """What stands on one row of a screen: a pager may show what a shell printed yesterday, so no `stream` rules."""
        return [match for match in self.scan_lines((text,)) if match.rule.scope != "stream"]

    def scan_rows(self, texts: Sequence[str]) -> list[ScanMatch]:
        """New rows of an agent's own screen, from above. Of the `stream` rules, only those about an agent hold."""
        return [match for match in self.scan_lines(texts) if match.rule.agent or match.rule.scope != "stream"]

    def _find_rule_ids(self, text: str) -> frozenset[str]:
        if self._matcher is None:
            self.compile_now()
        return self._matcher.find_ids(text.encode(errors="replace")) if self._matcher else frozenset()

    def _find_matches(self, rows: JoinedRows, hits: frozenset[str]) -> Iterator[ScanMatch]:
        texts = rows.texts
        if hits - self._stream_rule_ids:
            for row, ids in self._narrow_rows(len(texts), lambda start, end: "\n".join(texts[start:end])):
                for name in sorted(ids - self._stream_rule_ids):
                    yield from _match_in_row(self.rules[name], rows, row)
        if hits & self._stream_rule_ids:
            for row, ids in self._narrow_rows(len(texts), lambda start, end: _build_window(texts, start, end)):
                for name in sorted(ids & self._stream_rule_ids):
                    yield from _match_in_window(self.rules[name], rows, row)

    def _narrow_rows(self, count: int, get_text: Callable[[int, int], str]) -> Iterator[tuple[int, frozenset[str]]]:
        """The rows that hit, each with its ids, found by halving."""
        todo = [(0, count)]
        while todo:
            start, end = todo.pop()
            ids = self._find_rule_ids(get_text(start, end))
            middle = (start + end) // 2
            if ids and end - start == 1:
                yield start, ids
            elif ids:
                todo += [(start, middle), (middle, end)]


def _build_window(texts: Sequence[str], start: int, end: int) -> str:
    """These rows and those before them to which a rule that ends here may reach back."""
    return "\n".join(text[:MAX_LINE_CHARS] for text in texts[max(0, start - WINDOW_LINES + 1) : end])


def _match_in_row(rule: Rule, rows: JoinedRows, row: int) -> Iterator[ScanMatch]:
    """The first place in every stretch of a row; a row of usual length is one stretch."""
    text = rows.texts[row]
    if not has_anchor(rule, text):
        return
    pattern, after = compile_pattern(rule.pattern), 0
    for start in range(0, max(1, len(text) - OVERLAP_CHARS), MAX_LINE_CHARS - OVERLAP_CHARS):
        stop = min(start + MAX_LINE_CHARS, len(text))
        found = pattern.search(text, max(start, after), stop)
        if not found or (found.end() == stop and (stop < len(text) or rows.is_open(row))):
            continue  # what touches a cut may go on behind it: the next stretch tells
        after = found.end()
        line, begins = rows.locate_offset(row, found.end())
        yield ScanMatch(rule, line, found.start() - begins, found.end() - begins, extract_captures(found))


def _match_in_window(rule: Rule, rows: JoinedRows, row: int) -> Iterator[ScanMatch]:
    text = _build_window(rows.texts, row, row + 1)
    last = len(text) - len(rows.texts[row][:MAX_LINE_CHARS])
    found = find_match_ending_after(rule, text, last)
    if found is not None:
        line, begins = rows.locate_offset(row, found.end() - last)
        yield ScanMatch(rule, line, found.start() - last - begins, found.end() - last - begins, extract_captures(found))


def _shift_match(match: ScanMatch, known: int) -> ScanMatch:
    return ScanMatch(match.rule, match.line - known, match.start, match.end, match.captures)
