"""Remove queries from output that is shown in a person's terminal.

The terminal model has answered them. If the person's terminal answered too, its answers would be typed into the
program as if the person had typed them.
"""

import re

_QUERY = re.compile(
    rb"\x05"
    rb"|\x1bZ"
    rb"|\x1b\[[?>=]?[0-9;]*c"
    rb"|\x1b\[\??[0-9;]*n"
    rb"|\x1b\[\??[0-9;]*\$p"
    rb"|\x1b\[>[0-9]*q"
    rb"|\x1b\[\?u"
    rb"|\x1b\[\?[0-9;]*S"
    rb"|\x1b\[[0-9;]*x"
    rb"|\x1b\[(?:1[13-9]|2[01])(?:;[0-9]*)*t"
    rb"|\x1b\][0-9]+;(?:[^\x07\x1b]*;)?\?(?:;[^\x07\x1b]*)?(?:\x07|\x1b\\)"
    rb"|\x1bP[+$]q[^\x1b]{0,4000}\x1b\\"
    rb"|\x1b_G[^\x1b]*a=q[^\x1b]*\x1b\\"
)
# The beginning of a sequence whose end has not arrived. Longer ones are no queries.
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[\]P_][^\x07\x1b]{0,4000}\x1b?)?\Z")


class QueryFilter:
    """Filters a stream in chunks. The unfinished end of a chunk is held back until the next one."""

    def __init__(self) -> None:
        self._held = b""

    def filter_chunk(self, data: bytes) -> bytes:
        if self._held:
            data = self._held + data
            self._held = b""
        if b"\x1b" not in data and b"\x05" not in data:
            return data
        # Only the last escape character can begin what is unfinished, except for the end of a string (`ESC \`).
        begin = data.rfind(b"\x1b")
        before = data.rfind(b"\x1b", 0, begin) if begin == len(data) - 1 else begin
        for place in sorted({before, begin} - {-1}):
            if len(data) - place <= 4096 and (match := _UNFINISHED.match(data, place)):
                self._held = match.group()
                data = data[:place]
                break
        return _QUERY.sub(b"", data)

    def flush(self) -> bytes:
        """Return what is held back, once nothing follows."""
        held, self._held = self._held, b""
        return held
