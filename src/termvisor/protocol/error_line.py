"""An error as one process prints it at its end and another reads it: ``visor: <code>: <message>``, then its hint."""

import re

from termvisor.errors import VisorError, all_errors

_FIRST = re.compile(r"^visor: ([a-z_]+): (.*)\n(.*)", re.MULTILINE)
_BY_CODE = {cls.code: cls for cls in reversed(all_errors())}


def said(error: VisorError) -> str:
    return f"visor: {error.code}: {' '.join(error.message.split())}\n{error.hint}\n"


def heard(text: str) -> VisorError | None:
    """The last error in a text; None when there is none."""
    found = _FIRST.findall(text)
    if not found or found[-1][0] not in _BY_CODE:
        return None
    code, message, hint = found[-1]
    return _BY_CODE[code](message, hint=hint)
