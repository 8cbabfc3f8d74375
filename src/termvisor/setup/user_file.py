"""A file of a person's as it is and as it would be, shown before anything is done to it."""

from collections.abc import Iterator

from msgspec import Struct

from termvisor.redaction import redact


class FileChange(Struct, frozen=True):
    """A file's bytes now and then; None where there is no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def is_empty(self) -> bool:
        return self.before == self.after


def format_diff(change: FileChange) -> str:
    """A unified diff. The lines around ours are the person's own and may hold secrets."""
    from difflib import unified_diff

    old, new = (list(_split_lines(data)) for data in (change.before, change.after))
    was, will = (change.path if data is not None else "/dev/null" for data in (change.before, change.after))
    return redact("\n".join(unified_diff(old, new, was, will, lineterm="")))


def _split_lines(data: bytes | None) -> Iterator[str]:
    *whole, last = (data or b"").decode("utf-8", "replace").split("\n")
    yield from whole
    if last:
        yield last + "\n\\ No newline at end of file"
