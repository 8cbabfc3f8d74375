"""What a decoder says becomes what a person can use."""

import pytest

from termvisor.detection.packs.decode_errors import Refusal, refusal


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            "Expected `str`, got `int` - at `$.hits[1].text`",
            Refusal("hit", "`text` is a number, and must be a text in quotes", "hit", 1),
        ),
        (
            "Expected `str`, got `int` - at `$.misses[0].why`",
            Refusal("miss", "`why` is a number, and must be a text in quotes", "miss", 0),
        ),
        (
            "Expected `array`, got `str` - at `$.anchors`",
            Refusal("anchors", "is a text in quotes, and must be a list", "anchors"),
        ),
        (
            "Expected `str`, got `int` - at `$.anchors[2]`",
            Refusal("anchors", "is a number, and must be a text in quotes", "anchors"),
        ),
        (
            "Object contains unknown field `patern` - at `$.unless[1]`",
            Refusal("unless", "`patern` is unknown; did you mean pattern?", "patern"),
        ),
        ("Object missing required field `scope`", Refusal("scope", "is missing", "scope")),
        (
            "Invalid enum value 'limited' - at `$.flag`",
            Refusal("flag", "'limited' is none of usage_limited, compacting, auth_needed", "flag"),
        ),
        ("Something else - at `$.id`", Refusal("id", "Something else", "id")),
    ],
)
def test_each_word_of_the_decoder_is_told_in_ours(error: str, told: Refusal) -> None:
    assert refusal(error) == told
