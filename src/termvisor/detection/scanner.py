"""Scan the lines of a pane for rule matches.

In: stored, redacted lines of one pane. Out: matches, each with line, span and captures. One scan of the whole block
decides whether there is any hit. Only lines with a hit are then matched with ``re``, so that the result does not
depend on the engine. Invariant: the matches do not depend on how the lines are divided among calls.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from termvisor.detection.packs.rule_match import (
    WINDOW_LINES,
    compile_pattern,
    extract_captures,
    find_match_ending_after,
    has_anchor,
)
from termvisor.model.detection.rule import Rule
from termvisor.regex import EngineName, PatternMatcher, compile_patterns
from termvisor.regex.relax import relax_pattern

MAX_LINE_CHARS = 4096
"""A line of exactly this many characters continues in the next one."""
OVERLAP_CHARS = 512
"""The longest match that is certainly found in a row longer than `MAX_LINE_CHARS`."""


class JoinedRows(Struct, frozen=True):
    """Joined lines; ``first_lines`` has the index of each row's first line, ``piece_starts`` its lines' offsets."""

    texts: Sequence[str]
    first_lines: Sequence[int]
    piece_starts: Sequence[Sequence[int]]

    def locate_offset(self, row: int, offset: int) -> tuple[int, int]:
        """Return the line of an offset in a row, and the offset at which that line starts."""
        starts = self.piece_starts[row] if self.piece_starts else (0,)
        piece = bisect_right(starts, offset) - 1
        return self.first_lines[row] + piece, starts[piece]

    def is_open(self, row: int) -> bool:
        """Return True if the row ends with a full line: more may follow, so a match at its end may be longer."""
        last = len(self.texts[row]) - (self.piece_starts[row][-1] if self.piece_starts else 0)
        return last == MAX_LINE_CHARS and row == len(self.texts) - 1


class ScanMatch(Struct, frozen=True):
    """A match; ``line`` is where it ends, and ``start`` is negative if it began on an earlier line."""

    rule: Rule
    line: int
    start: int
    end: int
    captures: dict[str, str]


class RuleScanner:
    """Scanner that matches rules of scope `stream` across up to four lines, and all others within one line.

    Patterns are compiled at the first scan; ``cache`` is the folder of compiled patterns.
    """

    def __init__(self, rules: Sequence[Rule], *, engine: EngineName = "auto", cache: str | None = None):
        self.rules = {rule.id: rule for rule in rules}
        self._stream_rule_ids = frozenset(rule.id for rule in rules if rule.scope == "stream")
        self._engine: EngineName = engine
        self._cache = cache
        self._matcher: PatternMatcher | None = None

    @property
    def patterns(self) -> dict[str, str]:
        """Return the relaxed patterns that the engine scans for, by rule id."""
        return {rule.id: relax_pattern(rule.pattern) for rule in self.rules.values()}

    def compile_now(self) -> None:
        if self.rules and self._matcher is None:
            self._matcher = compile_patterns(self.patterns, self._engine, cache_folder=self._cache)

    def scan_lines(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[ScanMatch]:
        """Return the matches that end on one of these lines; ``before`` are up to three lines that precede them."""
        lines = [*before[1 - WINDOW_LINES :], *texts]
        whole = "\n".join(lines)
        # Joining costs more than this check, and lines of maximum length are rare.
        joined = join_lines(lines) if has_cut_line(whole) else None
        # One scan of the whole block, because most output matches no rule at all.
        hits = self._find_rule_ids("\n".join(joined.texts) if joined else whole) if texts else frozenset()
        if not hits:
            return []
        rows = joined or JoinedRows(lines, range(len(lines)), ())
        first_new = len(lines) - len(texts)
        matches = [match for match in self._find_matches(rows, hits) if match.line >= first_new]
        shifted = (_shift_match(match, first_new) for match in matches)
        return sorted(shifted, key=lambda match: (match.line, match.start))

    def scan_rows(self, texts: Sequence[str]) -> list[ScanMatch]:
        """Scan new rows of an agent's screen from the top down. Only those `stream` rules that name an agent apply."""
        # The other `stream` rules are about shells, whose old output a pager may show again.
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
        """Yield the rows with hits and their rule ids, found by bisection."""
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
    """Return these rows and the earlier ones on which a match that ends here may start."""
    return "\n".join(text[:MAX_LINE_CHARS] for text in texts[max(0, start - WINDOW_LINES + 1) : end])


def _match_in_row(rule: Rule, rows: JoinedRows, row: int) -> Iterator[ScanMatch]:
    """Yield the first match in every stretch of a row. A row of usual length is a single stretch."""
    text = rows.texts[row]
    if not has_anchor(rule, text):
        return
    pattern, after = compile_pattern(rule.pattern), 0
    for start in range(0, max(1, len(text) - OVERLAP_CHARS), MAX_LINE_CHARS - OVERLAP_CHARS):
        stop = min(start + MAX_LINE_CHARS, len(text))
        match = pattern.search(text, max(start, after), stop)
        # A match that touches the end of a stretch may be longer; the next stretch finds it.
        if not match or (match.end() == stop and (stop < len(text) or rows.is_open(row))):
            continue
        after = match.end()
        line, line_start = rows.locate_offset(row, match.end())
        yield ScanMatch(rule, line, match.start() - line_start, match.end() - line_start, extract_captures(match))


def _match_in_window(rule: Rule, rows: JoinedRows, row: int) -> Iterator[ScanMatch]:
    text = _build_window(rows.texts, row, row + 1)
    last_row = len(text) - len(rows.texts[row][:MAX_LINE_CHARS])
    match = find_match_ending_after(rule, text, last_row)
    if match is not None:
        line, line_start = rows.locate_offset(row, match.end() - last_row)
        offset = last_row + line_start
        yield ScanMatch(rule, line, match.start() - offset, match.end() - offset, extract_captures(match))


def _shift_match(match: ScanMatch, lines: int) -> ScanMatch:
    return ScanMatch(match.rule, match.line - lines, match.start, match.end, match.captures)


def has_cut_line(text: str) -> bool:
    """Return True if any line of the text has the maximum length. Searches in strides instead of line by line."""
    start = 0
    while len(text) - start >= MAX_LINE_CHARS:
        newline = text.rfind("\n", start, start + MAX_LINE_CHARS)
        if newline < 0:
            return True
        start = newline + 1
    return False


def join_lines(lines: Sequence[str]) -> JoinedRows:
    """Join lines that were cut at the maximum length, so that rules see the whole row."""
    groups: list[list[str]] = []
    first_lines: list[int] = []
    for index, line in enumerate(lines):
        if index and len(lines[index - 1]) == MAX_LINE_CHARS:
            groups[-1].append(line)
        else:
            groups.append([line])
            first_lines.append(index)
    texts = ["".join(group) for group in groups]
    return JoinedRows(texts, first_lines, [_compute_piece_starts(group) for group in groups])


def _compute_piece_starts(group: list[str]) -> list[int]:
    starts = [0]
    for piece in group[:-1]:
        starts.append(starts[-1] + len(piece))
    return starts
