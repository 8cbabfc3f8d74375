"""Kinds and flags of Codex errors."""

from datetime import datetime

import pytest

from termvisor.agents.adapters.codex.error_codes import (
    build_code_error_statement,
    build_message_error_statement,
    classify_error_code,
)
from termvisor.clock import NS
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate

NOW = 1_794_802_600 * NS


@pytest.mark.parametrize(
    ("info", "kind"),
    [
        ("usageLimitExceeded", "usage_limit"),
        ("usage_limit_exceeded", "usage_limit"),
        ("serverOverloaded", "overloaded"),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "auth"),
        ({"http_connection_failed": {"http_status_code": 401}}, "auth"),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "rate_limit"),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": None}}, "too_many_attempts"),
        ({"responseStreamDisconnected": {"httpStatusCode": 200}}, "disconnected"),
        ("somethingNew", "other"),
        ({}, "other"),
        (None, "other"),
        (7, "other"),
    ],
)
def test_an_error_code_has_a_kind(info, kind):
    assert classify_error_code(info) == kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("You’ve hit your usage limit.", "usage_limit"),
        ("unexpected status 401 Unauthorized: no", "auth"),
        ("the disk is full", "other"),
    ],
)
def test_a_message_without_a_code_is_classified(message, kind):
    assert build_message_error_statement(message, NOW).payload["error"] == kind


def test_a_usage_limit_has_its_reset_time():
    flags = build_code_error_statement("usageLimitExceeded", "… or try again at 11:02 PM.", NOW).flags
    assert flags.usage_limited
    end = datetime.fromtimestamp(flags.resets_at // NS)
    assert (end.hour, end.minute) == (23, 2)
    assert 0 < flags.resets_at - NOW < 24 * 3600 * NS


def test_a_usage_limit_without_a_time_has_no_reset_time():
    assert build_code_error_statement("usageLimitExceeded", "You've hit your usage limit.", NOW).flags == FlagUpdate(
        usage_limited=True
    )


def test_other_errors_do_not_set_usage_limited():
    assert build_code_error_statement("unauthorized", "", NOW).flags == FlagUpdate(auth_needed=True)
    assert build_code_error_statement("rateLimitExceeded", "try again at 11:02 PM", NOW).flags == NO_FLAG_UPDATE
