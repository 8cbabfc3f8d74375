"""Which rules match which lines.

In: settled, redacted lines of one pane. Out: matches, each with its line, span and captures. One block scan tells
whether anything is there at all; only lines that hit are read by ``re``, whose word is final, so that the result is
the same whichever engine scans. However lines are divided among calls, the matches are the same.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from termvisor.detection.joined_lines import CUT, Rows, has_cut, rows_of
from termvisor.detection.packs.pattern_match import WINDOW, captures, compiled, has_anchor, match_ending
from termvisor.model.detection.rule import Rule
from termvisor.regex import Engine, Matcher, compile_patterns
from termvisor.regex.relax import loosened

OVERLAP = 512
"""A match in a row longer than `CUT` is found if it is at most this long."""


class Match(Struct, frozen=True):
    """``line`` is where it ends; ``start`` is below zero where it began on a line before."""

    rule: Rule
    line: int
    start: int
    end: int
    captures: dict[str, str]


class RuleScan:
    """The given rules, those of scope `stream` over up to four lines, all others on one line each.

    ``cache`` is the folder for what takes long to compile; nothing is compiled before the first text.
    """

    def __init__(self, rules: Sequence[Rule], *, engine: Engine = "auto", cache: str | None = None):
        self.rules = {rule.id: rule for rule in rules}
        self._wide = frozenset(rule.id for rule in rules if rule.scope == "stream")
        self._engine: Engine = engine
        self._cache = cache
        self._matcher: Matcher | None = None

    @property
    def patterns(self) -> dict[str, str]:
        """What the engine scans for, by id of the rule."""
        return {rule.id: loosened(rule.pattern) for rule in self.rules.values()}

    def warm(self) -> None:
        """Compile now."""
        if self.rules and self._matcher is None:
            self._matcher = compile_patterns(self.patterns, self._engine, cache=self._cache)

    def lines(self, texts: Sequence[str], before: Sequence[str] = ()) -> list[Match]:
        """What ends on one of these lines. ``before`` are the up to three lines that came before them."""
        lines = [*before[1 - WINDOW :], *texts]
        whole = "\n".join(lines)
        joined = rows_of(lines) if has_cut(whole) else None
        hits = self._ids("\n".join(joined.texts) if joined else whole) if texts else frozenset()
        if not hits:
            return []
        rows = joined or Rows(lines, range(len(lines)), ())
        known = len(lines) - len(texts)
        found = [match for match in self._matches(rows, hits) if match.line >= known]
        return sorted((_moved(match, known) for match in found), key=lambda match: (match.line, match.start))

    def row(self, text: str) -> list[Match]:
        """What stands on one row of a screen: a pager may show what a shell printed yesterday, so no `stream` rules."""
        return [match for match in self.lines((text,)) if match.rule.scope != "stream"]

    def rows(self, texts: Sequence[str]) -> list[Match]:
        """New rows of an agent's own screen, from above. Of the `stream` rules, only those about an agent hold."""
        return [match for match in self.lines(texts) if match.rule.agent or match.rule.scope != "stream"]

    def _ids(self, text: str) -> frozenset[str]:
        if self._matcher is None:
            self.warm()
        return self._matcher.ids(text.encode(errors="replace")) if self._matcher else frozenset()

    def _matches(self, rows: Rows, hits: frozenset[str]) -> Iterator[Match]:
        texts = rows.texts
        if hits - self._wide:
            for row, ids in self._narrowed(len(texts), lambda start, end: "\n".join(texts[start:end])):
                for name in sorted(ids - self._wide):
                    yield from _in_row(self.rules[name], rows, row)
        if hits & self._wide:
            for row, ids in self._narrowed(len(texts), lambda start, end: _window(texts, start, end)):
                for name in sorted(ids & self._wide):
                    yield from _in_window(self.rules[name], rows, row)

    def _narrowed(self, count: int, text: Callable[[int, int], str]) -> Iterator[tuple[int, frozenset[str]]]:
        """The rows that hit, each with its ids, found by halving."""
        todo = [(0, count)]
        while todo:
            start, end = todo.pop()
            ids = self._ids(text(start, end))
            middle = (start + end) // 2
            if ids and end - start == 1:
                yield start, ids
            elif ids:
                todo += [(start, middle), (middle, end)]


def _window(texts: Sequence[str], start: int, end: int) -> str:
    """These rows and those before them to which a rule that ends here may reach back."""
    return "\n".join(text[:CUT] for text in texts[max(0, start - WINDOW + 1) : end])


def _in_row(rule: Rule, rows: Rows, row: int) -> Iterator[Match]:
    """The first place in every stretch of a row; a row of usual length is one stretch."""
    text = rows.texts[row]
    if not has_anchor(rule, text):
        return
    pattern, after = compiled(rule.pattern), 0
    for start in range(0, max(1, len(text) - OVERLAP), CUT - OVERLAP):
        stop = min(start + CUT, len(text))
        found = pattern.search(text, max(start, after), stop)
        if not found or (found.end() == stop and (stop < len(text) or rows.is_open(row))):
            continue  # what touches a cut may go on behind it: the next stretch tells
        after = found.end()
        line, begins = rows.place(row, found.end())
        yield Match(rule, line, found.start() - begins, found.end() - begins, captures(found))


def _in_window(rule: Rule, rows: Rows, row: int) -> Iterator[Match]:
    text = _window(rows.texts, row, row + 1)
    last = len(text) - len(rows.texts[row][:CUT])
    found = match_ending(rule, text, last)
    if found is not None:
        line, begins = rows.place(row, found.end() - last)
        yield Match(rule, line, found.start() - last - begins, found.end() - last - begins, captures(found))


def _moved(match: Match, known: int) -> Match:
    return Match(match.rule, match.line - known, match.start, match.end, match.captures)
