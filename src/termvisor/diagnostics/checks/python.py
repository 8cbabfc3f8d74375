"""Interpreter check: regular expressions match as documented. Stored text, redaction and rules depend on it."""

import platform
import re
import sys
from collections.abc import Sequence

from msgspec import Struct

from termvisor.diagnostics.checks.check import BuiltinCheck, CheckContext, CheckFinding


class PatternProbe(Struct, frozen=True):
    """A pattern and where its match in the text ends."""

    pattern: str
    text: str
    end: int


USED_FORMS = (
    PatternProbe(r"(?:[a-z]++|\x1b(?:\[[0-9;]*+[A-Za-z]|\(B))+", "ab\x1b[1;31mc\x1b[?2004l", 10),
    PatternProbe(r"(?:x|ab?c)*", "xab", 1),
    PatternProbe(r"[^\x00-\x1f]++(?:\r{1,2}+\n)?", "text\r\r\n", 7),
    PatternProbe(r"(?:a|ab)(?:c|bcd)(?=d|\Z)", "abcd", 4),
)
"""Forms that Termvisor's own patterns have."""
AVOIDED_FORMS = (PatternProbe(r"(?:x|ab?c)*+", "xab", 1), PatternProbe(r"(?:x|ab?c)++", "xxab", 2))
"""Forms that Python 3.11.0 to 3.11.4 match wrongly (CPython gh-106052); Termvisor has none of them."""


class PythonCheck(BuiltinCheck):
    name = "python"
    doc = "The Python that runs Termvisor matches regular expressions as documented."

    async def run(self, context: CheckContext) -> CheckFinding:
        del context  # the interpreter is that of this process
        return self.judge_forms(find_wrong_forms(USED_FORMS), find_wrong_forms(AVOIDED_FORMS))

    def judge_forms(self, used: list[str], avoided: list[str]) -> CheckFinding:
        interpreter = f"Python {platform.python_version()} ({sys.executable})"
        if used:
            hint = "Stored text may be wrong. Set Termvisor up with another Python: `PYTHON=/path/to/python3 make run`."
            return self.report("fail", f"{interpreter} does not match correctly: {used[0]}", hint)
        message = f"{interpreter} matches regular expressions correctly"
        if avoided:
            message += f", but not {avoided[0]} and the like (CPython gh-106052), which Termvisor does not use"
        return self.report("ok", message)


def find_wrong_forms(probes: Sequence[PatternProbe]) -> list[str]:
    """Return the patterns that this interpreter matches wrongly."""
    return [probe.pattern for probe in probes if _find_end(probe) != probe.end]


def _find_end(probe: PatternProbe) -> int | None:
    match = re.match(probe.pattern, probe.text)
    return match.end() if match else None
