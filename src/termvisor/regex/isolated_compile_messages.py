"""What is said to a process that tries patterns (`termvisor.regex.isolated_compile`), and what it says."""

from msgspec import Struct


class IsolatedCompileRequest(Struct, frozen=True, kw_only=True):
    """``keep_in``: compile them as one, and keep that in this folder; without it, each is tried alone."""

    patterns: dict[str, str]
    texts: dict[str, tuple[str, ...]] = {}
    """By id: what the pattern is to be found in, and what it is not."""
    keep_in: str = ""


def parse_compile_output(out: bytes) -> tuple[str, dict[str, str]]:
    """What was tried last, and by id what was refused and why."""
    lines = out.decode("utf-8", "replace").splitlines()
    last = next((line[2:] for line in reversed(lines) if line.startswith("? ")), "")
    split = [line[2:].partition(" ") for line in lines if line.startswith("! ")]
    return last, {name: why for name, _, why in split}
