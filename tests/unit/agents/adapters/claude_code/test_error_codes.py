"""Flags of Claude Code errors: usage limit, login, or none."""

import pytest

from termvisor.agents.adapters.claude_code.error_codes import build_error_flags
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW


@pytest.mark.parametrize(
    "message",
    [
        "You've hit your 5-hour limit · resets 7:19am (UTC)",
        "You’ve hit your weekly limit · resets Nov 20 at 5pm (Europe/Berlin)",
        "You're out of extra usage · resets May 2, 2pm (Asia/Jerusalem)",
        "You've reached your Opus limit",
        "You've hit your limit",
        "You've hit your team's shared budget. Switch to another model to continue.",
        "You're out of usage credits. /model to switch models.",
        "Your org is out of usage · contact your admin",
        "API Error: Request rejected (429) · You've hit your usage limit.",
    ],
)
def test_an_account_limit_sets_usage_limited(message: str) -> None:
    assert build_error_flags("rate_limit", message, NOW).usage_limited is True


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("rate_limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit."),
        ("invalid_request", "Context limit reached"),
        ("server_error", "You've hit your 5-hour limit"),
        ("rate_limit", "You've hit your fast limit · resets in 5m"),
        ("billing_error", "Credit balance is too low"),
    ],
)
def test_other_limits_do_not_set_usage_limited(error: str, message: str) -> None:
    assert build_error_flags(error, message, NOW).usage_limited is None


def test_login_errors_set_auth_needed() -> None:
    assert build_error_flags("authentication_failed", "Invalid API key", NOW).auth_needed is True
    assert build_error_flags("rate_limit", "429", NOW).auth_needed is False
    assert build_error_flags("server_error", "500", NOW).auth_needed is None
