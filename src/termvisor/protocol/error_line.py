"""Pass an error from a child process to its parent on stderr: ``visor: <code>: <message>``, then the hint."""

import re

from termvisor.errors import VisorError, list_error_classes

_ERROR_LINE = re.compile(r"^visor: ([a-z_]+): (.*)\n(.*)", re.MULTILINE)
_ERRORS_BY_CODE = {cls.code: cls for cls in reversed(list_error_classes())}


def format_error(error: VisorError) -> str:
    return f"visor: {error.code}: {' '.join(error.message.split())}\n{error.hint}\n"


def parse_last_error(text: str) -> VisorError | None:
    """Return the last error in a text; None if there is none."""
    errors = _ERROR_LINE.findall(text)
    if not errors or errors[-1][0] not in _ERRORS_BY_CODE:
        return None
    code, message, hint = errors[-1]
    return _ERRORS_BY_CODE[code](message, hint=hint)
