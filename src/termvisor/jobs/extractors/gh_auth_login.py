"""`gh auth login`: shows a one-time code, waits for Enter to open the browser, and says who logged in."""

from termvisor.jobs.extractors.extractor import Capture, Extractor

EXTRACTOR = Extractor(
    name="gh_auth_login",
    command=r"\bgh\b.*\bauth\b.*\blogin\b",
    detectors=(r"press enter to open", r"paste your authentication token", r"\? (?:what|where|how|authenticate)"),
    captures=(
        Capture(name="code", pattern=r"one-time code: (?P<value>[A-Z0-9]{4}-[A-Z0-9]{4})"),
        Capture(name="url", pattern=r"(?P<value>https://[\w.-]+/login/device)"),
        Capture(name="account", pattern=r"Logged in as (?P<value>[\w-]+)"),
        Capture(name="token", pattern=r"(?P<value>gh[opusr]_[A-Za-z0-9]{30,})", is_secret=True),
    ),
)
