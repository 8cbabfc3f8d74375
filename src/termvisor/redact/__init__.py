"""Secrets out of text before it is stored, shown or sent to a model.

What is recognised becomes ``[redacted:<kind>]``; a provider's prefix stays, so that a reader sees what was there.
"""

from termvisor.redact.redactor import Redactor, redact, use
from termvisor.redact.rules import Rules, build, kinds

__all__ = ["Redactor", "Rules", "build", "kinds", "redact", "use"]
