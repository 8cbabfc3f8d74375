"""`claude setup-token`: shows an address, asks for the code from there, prints a long-lived token once."""

from termvisor.jobs.extractors.extractor import Capture, Extractor

EXTRACTOR = Extractor(
    name="claude_setup_token",
    command=r"\bclaude\b.*\bsetup-token\b",
    detectors=(r"paste (?:the )?code", r"press enter to"),
    captures=(
        Capture(name="url", pattern=r"(?P<value>https://(?:claude\.ai|console\.anthropic\.com|[\w.]+)/oauth/\S+)"),
        Capture(name="token", pattern=r"(?P<value>sk-ant-oat\d\d-[A-Za-z0-9_-]{20,})", is_secret=True),
    ),
)
