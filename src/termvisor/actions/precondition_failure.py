"""The reason why nothing was done, and the errors built from it."""

from collections.abc import Iterator

from msgspec import Struct

from termvisor.actions.next_steps import describe_next_step
from termvisor.backends.pane_control import GuardMismatch
from termvisor.errors import Conflict, ErrorDetail, StaleSnapshot

_TEXT_FAILURES = frozenset({"nothing_to_see", "too_long", "control_characters", "multi_line", "popup_text"})


class PreconditionFailure(Struct, frozen=True):
    """The reason why nothing was done. ``why`` is a stable code; ``expected`` and ``actual`` did not match."""

    why: str
    text: str
    expected: str = ""
    actual: str = ""
    hint: str = ""
    """What the caller can do instead; empty for the next step that belongs to ``why``."""

    @property
    def is_due_to_text(self) -> bool:
        """Return True if the text itself cannot be sent to the program in the pane, so that waiting does not help."""
        return self.why in _TEXT_FAILURES

    def build_error(self, correlation: str = "", pane: int | None = None) -> Conflict:
        """Return the error; its hint names the next command for this pane."""
        details: dict[str, ErrorDetail] = {"outcome": "refused", "why": self.why}
        if correlation:
            details["correlation"] = correlation
        if self.expected or self.actual:
            details |= {"expected": self.expected, "actual": self.actual}
        # A failure with its own hint says in words what was found.
        is_compared = self.expected and not self.hint
        text = f"{self.text} (expected {self.expected}, found {self.actual})" if is_compared else self.text
        kind = Conflict if self.why == "reserved" else StaleSnapshot
        hint = self.hint or (describe_next_step(self.why, pane) if pane is not None else None)
        return kind(f"nothing was done: {text}", hint=hint, details=details)


def build_stale_error(why: str, text: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})


def build_guard_error(mismatch: GuardMismatch, *, is_first: bool = True) -> StaleSnapshot:
    """Build the error for a guard that failed when tmux checked it right before the action or its next key."""
    text = f"expected {mismatch.expected}, found {mismatch.actual}"
    details = {"outcome": "refused", "why": f"stale_{mismatch.what}"}
    details |= {"expected": mismatch.expected, "actual": mismatch.actual}
    return StaleSnapshot(f"nothing {'' if is_first else 'more '}was done: {text}", details=details)


Failures = Iterator[PreconditionFailure]
"""Failures that a check yields lazily: evaluation stops at the first failure of all checks."""
