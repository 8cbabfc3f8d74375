"""Redact secrets in a stream of lines, or in any text.

Each input line gives one output line. ``state`` (a kind and a count, no text) is for the next line. Cutting the stream
differently, or resuming from ``state``, gives the same lines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from termvisor.redaction import mask, partial_secrets, private_key_block
from termvisor.redaction.known_values import has_known_values, mask_known_values
from termvisor.redaction.partial_secrets import OpenSecret, SeenSecrets
from termvisor.redaction.ruleset import CUT_PREFIX, INVISIBLE, RedactionRules, build_rules
from termvisor.redaction.secret_kind import strip_invisible

_NO_KINDS: frozenset[str] = frozenset()
_ONLY_CUT_PREFIX = frozenset({CUT_PREFIX})
_active_rules = build_rules()


def use_rules(rules: RedactionRules) -> None:
    """Set the default rules of this process."""
    global _active_rules  # noqa: PLW0603
    _active_rules = rules


def get_active_rules() -> RedactionRules:
    return _active_rules


def redact(text: str) -> str:
    """Return the text, of one or more lines, with all secrets masked."""
    return "\n".join(Redactor().redact_lines(text.split("\n")))


def redact_values(value: Any, redact_text: Callable[[str], str] = redact) -> Any:
    """Return a value of a JSON document with every text and every name in it redacted."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list | tuple):
        return [redact_values(item, redact_text) for item in value]
    if isinstance(value, Mapping):
        return {redact(str(name)): redact_values(item, redact_text) for name, item in value.items()}
    return value


def redact_each(texts: Sequence[str]) -> list[str]:
    """Redact each text. If none contains a secret, a single scan of all of them is enough."""
    if has_known_values():
        texts = [mask_known_values([text])[0] for text in texts]
    if not texts or not _active_rules.scan("\n".join(texts)):
        return list(texts)
    if len(texts) == 1:
        return [redact(texts[0])]
    middle = len(texts) // 2
    return [*redact_each(texts[:middle]), *redact_each(texts[middle:])]


class Redactor:
    """Redactor of one stream; not thread-safe. With ``seen_secrets`` it also masks pieces of secrets seen before."""

    def __init__(
        self, rules: RedactionRules | None = None, state: bytes = b"", seen_secrets: SeenSecrets | None = None
    ):
        self._own_rules = rules
        self._seen_secrets = seen_secrets
        self._open_secret = partial_secrets.decode_open_secret(state)
        self._previous_line = ""

    @property
    def _rules(self) -> RedactionRules:
        # Not cached, so that a running stream uses reloaded rules.
        return self._own_rules or _active_rules

    @property
    def state(self) -> bytes:
        still_open = self._open_secret or partial_secrets.find_cut_prefix(self._rules, self._previous_line)
        return still_open.encode() if still_open else b""

    def redact_lines(self, texts: Sequence[str]) -> list[str]:
        if has_known_values():
            texts = mask_known_values(texts)
        joined = "\n".join(texts)
        # One scan of all lines, because most batches contain no secret at all.
        hits = self._rules.scan_lines(joined)
        if not any(name == INVISIBLE for _, name in hits):
            return self._redact_scanned(texts, joined, hits)
        visible = [strip_invisible(text) for text in texts]
        joined = "\n".join(visible)
        redacted = self._redact_scanned(visible, joined, self._rules.scan_lines(joined))
        return [text if shown == after else after for text, shown, after in zip(texts, visible, redacted, strict=True)]

    def redact_cut_line(self, text: str) -> str:
        """Redact a line that may end anywhere in a secret, not only at the edge of a screen."""
        margin = " " * partial_secrets.MIN_ROW_CHARS
        return self.redact_lines([margin + text])[0][len(margin) :]

    def redact_screen(self, rows: Sequence[str], cursor_row: int) -> list[str]:
        """Redact the rows of a screen. The row of the cursor may grow, so it may end anywhere in a secret."""
        redacted = self.redact_lines(rows[:cursor_row])
        redacted += map(self.redact_cut_line, rows[cursor_row : cursor_row + 1])
        return redacted + self.redact_lines(rows[cursor_row + 1 :])

    def _redact_scanned(self, texts: Sequence[str], joined: str, hits: Sequence[tuple[int, str]]) -> list[str]:
        if not hits and self._open_secret is None:
            self._previous_line = texts[-1] if texts else self._previous_line
            return [self._seen_secrets.mask_known_pieces(text) for text in texts] if self._seen_secrets else list(texts)
        # A text that contains a newline would shift the numbers of the lines after it.
        if joined.count("\n") >= len(texts):
            return [self._redact_multiline(text) for text in texts]
        names: dict[int, set[str]] = {}
        for number, name in hits:
            names.setdefault(number, set()).add(name)
        return [self._redact_line(text, frozenset(names.get(number, _NO_KINDS))) for number, text in enumerate(texts)]

    def _redact_multiline(self, text: str) -> str:
        return "\n".join(part for line in text.split("\n") for part in self.redact_lines([line]))

    def _redact_line(self, text: str, kind_ids: frozenset[str]) -> str:
        original, is_continuation = text, False
        open_secret, self._open_secret = self._open_secret, None
        if open_secret is None and CUT_PREFIX in kind_ids:
            open_secret = partial_secrets.find_cut_prefix(self._rules, self._previous_line)
        if open_secret and not self._is_new_secret(text, open_secret, kind_ids):
            text, self._open_secret = self._continue_secret(text, open_secret)
            is_continuation = text != original
            kind_ids = self._rules.scan(text) if is_continuation else kind_ids
        if self._open_secret is None and kind_ids - _ONLY_CUT_PREFIX:
            text = self._mask_line(text, kind_ids)
        self._previous_line = text
        if self._seen_secrets is None:
            return text
        if text != original:
            self._seen_secrets.learn(original, text, is_continuation=is_continuation)
        return self._seen_secrets.mask_known_pieces(text)

    def _is_new_secret(self, text: str, open_secret: OpenSecret, kind_ids: frozenset[str]) -> bool:
        return open_secret.kind != private_key_block.PRIVATE_KEY_KIND and partial_secrets.has_new_secret(
            self._rules, text, kind_ids
        )

    def _continue_secret(self, text: str, open_secret: OpenSecret) -> tuple[str, OpenSecret | None]:
        return (
            private_key_block.mask_block_line(text, open_secret)
            if open_secret.kind == private_key_block.PRIVATE_KEY_KIND
            else partial_secrets.mask_continuation(self._rules, text, open_secret)
        )

    def _mask_line(self, text: str, kind_ids: frozenset[str]) -> str:
        cut, still_open = partial_secrets.mask_cut_secret(self._rules, text, kind_ids)
        spans = mask.find_secrets(self._rules, kind_ids, cut)
        if spans:
            still_open = partial_secrets.find_open_secret(cut, spans) or still_open
            cut, later = partial_secrets.mask_cut_secret(
                self._rules, mask.mask_until_stable(self._rules, mask.mask_spans(cut, spans)), kind_ids
            )
            # Decide by the masked, shorter row, because that is what a second redaction would see.
            still_open = later or still_open
        self._open_secret = (
            private_key_block.find_block_start(cut) if private_key_block.PRIVATE_KEY_KIND in kind_ids else None
        ) or still_open
        return cut
