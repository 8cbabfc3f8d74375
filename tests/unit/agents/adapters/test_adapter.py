"""The contract of adapters: what an older one may still be."""

import pytest

from termvisor.agents.adapters.adapter import CONTRACT_VERSION, ScreenReading, is_supported_contract

MAJOR, MINOR = CONTRACT_VERSION


@pytest.mark.parametrize(
    ("version", "expected"),
    [((MAJOR, MINOR), True), ((MAJOR, 0), True), ((MAJOR, MINOR + 1), False), ((MAJOR + 1, 0), False)],
)
def test_a_minor_step_keeps_older_adapters(version: tuple[int, int], expected: bool) -> None:
    assert is_supported_contract(version) is expected


def test_a_look_that_found_nothing_is_unknown() -> None:
    assert ScreenReading().state == "unknown"
