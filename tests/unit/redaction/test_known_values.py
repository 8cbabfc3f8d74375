import pytest

from termvisor.redaction import Redactor, known_values, redact, redact_each, register_secret
from termvisor.redaction.known_values import MASK, use_pattern


@pytest.fixture(autouse=True)
def no_known_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_values, "_values", {})
    monkeypatch.setattr(known_values, "_sorted", ())


def test_a_registered_value_is_masked_everywhere() -> None:
    register_secret("plain words 42")
    assert redact("say plain words 42 twice: plain words 42") == f"say {MASK} twice: {MASK}"
    assert redact_each(["no", "plain words 42"]) == ["no", MASK]


def test_a_value_that_is_wrapped_over_two_lines_is_masked() -> None:
    register_secret("correct-horse")
    assert Redactor().redact_lines(["pw correct-", "horse done"]) == [f"pw {MASK}", " done"]


def test_the_longest_value_is_masked_first() -> None:
    register_secret("abcd")
    register_secret("abcd-efgh")
    assert redact("abcd-efgh abcd") == f"{MASK} {MASK}"


def test_a_short_value_would_mask_ordinary_text() -> None:
    register_secret("abc")
    assert redact("abc") == "abc"


def test_a_pattern_masks_while_it_is_used_and_its_values_afterwards() -> None:
    with use_pattern("code (?P<secret>[0-9-]+)"):
        assert redact("code 12-34-56 shown") == f"code {MASK} shown"
    assert redact("it was 12-34-56") == f"it was {MASK}"
    assert redact("code 98-76-54") == "code 98-76-54"
