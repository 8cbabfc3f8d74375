"""The form of versions, and how a version relates to the recorded ones."""

import pytest

from termvisor.model.agent.program_version import ProgramVersion, VersionStatus, classify_version, parse_version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2.1.325", "2.1.325"),
        ("0.142.5-linux-x64", "0.142.5"),
        ("0.62.0-nightly.20260101.abc", "0.62.0-nightly.20260101.abc"),
        ("1.0.0-darwin-arm64", "1.0.0"),
        ("v1.0", ""),
        ("1.0\n", ""),
        ("1.0 ", ""),
        ("7", ""),
        ("1.0-\x1b[0m", ""),
        ("\u0661.\u0662", ""),
    ],
)
def test_only_text_with_the_form_of_a_version_is_one(text: str, expected: str) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("1.2.11", "recorded"),
        ("1.10.0", "between_recorded"),
        ("1.18.33-rc.1", "between_recorded"),
        ("1.2.11-rc.1", "unseen"),
        ("1.2.9", "unseen"),
        ("1.18.34", "unseen"),
        ("2.0", "unseen"),
        ("", "unknown"),
        ("latest", "unknown"),
    ],
)
def test_a_version_is_compared_with_the_recorded_ones(version: str, status: VersionStatus) -> None:
    assert classify_version(version, ("1.18.33", "1.2.11")) == status


def test_without_recordings_no_version_is_unseen() -> None:
    assert classify_version("1.0", ()) == classify_version("", ()) == "no_recordings"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("recorded", "version 1.5 was recorded"),
        ("between_recorded", "version 1.5 was not recorded, but lies between recorded versions (1.1, 2.0)"),
        ("unseen", "version 1.5 has no recordings, only 1.1, 2.0"),
        ("unknown", "unknown version; recorded: 1.1, 2.0"),
        ("no_recordings", "version 1.5; no version of it was recorded"),
    ],
)
def test_the_description_says_what_is_unproven(status: VersionStatus, expected: str) -> None:
    bare = ProgramVersion(version="1.5", status=status, recorded=("1.1", "2.0"))
    more = ProgramVersion(
        version="1.5",
        status=status,
        recorded=("1.1", "2.0"),
        unproven=("look", "supports_waiting_input"),
        screens=9,
        strange_screens=4,
    )
    assert bare.description == expected
    assert more.description == f"{expected}; unproven: screens, waiting input; 4 of 9 screens not recognized"


def test_many_recorded_versions_are_named_by_the_first_and_the_last() -> None:
    known = ProgramVersion(version="9.0", status="unseen", recorded=("1.10", "1.2", "1.9", "2.0"))
    assert known.description == "version 9.0 has no recordings, only 4 versions from 1.2 to 2.0"
