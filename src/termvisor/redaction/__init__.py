"""Secrets out of text before it is stored, shown or sent to a model.

What is recognised becomes ``[redacted:<kind>]``; a provider's prefix stays, so that a reader sees what was there.
"""

from termvisor.redaction.redactor import Redactor, redact, redact_each, use
from termvisor.redaction.ruleset import Rules, build, kinds
from termvisor.redaction.seen_secrets import Memory
from termvisor.redaction.wrapped_lines import may_be_rest

__all__ = ["Memory", "Redactor", "Rules", "build", "kinds", "may_be_rest", "redact", "redact_each", "use"]
