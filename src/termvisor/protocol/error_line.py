"""An error as one process prints it at its end and another reads it: ``visor: <code>: <message>``, then its hint."""

import re

from termvisor.errors import VisorError, list_error_classes

_ERROR_LINE = re.compile(r"^visor: ([a-z_]+): (.*)\n(.*)", re.MULTILINE)
_ERRORS_BY_CODE = {cls.code: cls for cls in reversed(list_error_classes())}


def format_error(error: VisorError) -> str:
    return f"visor: {error.code}: {' '.join(error.message.split())}\n{error.hint}\n"


def parse_last_error(text: str) -> VisorError | None:
    """The last error in a text; None when there is none."""
    found = _ERROR_LINE.findall(text)
    if not found or found[-1][0] not in _ERRORS_BY_CODE:
        return None
    code, message, hint = found[-1]
    return _ERRORS_BY_CODE[code](message, hint=hint)
