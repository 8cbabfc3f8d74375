"""The adapter contract: supported versions and default values."""

import pytest

from termvisor.agents.adapters.adapter import CONTRACT_VERSION, ScreenReading, is_supported_contract

MAJOR, MINOR = CONTRACT_VERSION


@pytest.mark.parametrize(
    ("version", "expected"),
    [((MAJOR, MINOR), True), ((MAJOR, 0), True), ((MAJOR, MINOR + 1), False), ((MAJOR + 1, 0), False)],
)
def test_older_minor_contract_versions_are_supported_and_newer_ones_are_not(
    version: tuple[int, int], expected: bool
) -> None:
    assert is_supported_contract(version) is expected


def test_version_1_adapters_are_not_supported() -> None:
    assert MAJOR == 2
    assert not is_supported_contract((1, 1))


def test_a_screen_without_a_matching_rule_is_unknown() -> None:
    assert ScreenReading().state == "unknown"
