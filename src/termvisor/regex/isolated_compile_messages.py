"""Messages to and from the worker process that compiles patterns (`termvisor.regex.isolated_compile`)."""

from msgspec import Struct


class IsolatedCompileRequest(Struct, frozen=True, kw_only=True):
    """The patterns to test: each by itself, or with ``keep_in`` all as one database that is cached in this folder."""

    patterns: dict[str, str]
    texts: dict[str, tuple[str, ...]] = {}
    """Example texts by id, matching and not matching."""
    keep_in: str = ""


def parse_compile_output(out: bytes) -> tuple[str, dict[str, str]]:
    """Return the id that was tried last, and the reasons of rejected patterns by id."""
    lines = out.decode("utf-8", "replace").splitlines()
    last = next((line[2:] for line in reversed(lines) if line.startswith("? ")), "")
    rejections = [line[2:].partition(" ") for line in lines if line.startswith("! ")]
    return last, {name: reason for name, _, reason in rejections}
