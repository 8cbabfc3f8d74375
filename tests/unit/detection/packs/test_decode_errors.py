"""Translation of decode errors."""

import pytest

from termvisor.detection.packs.decode_errors import DecodeProblem, describe_decode_error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            "Expected `str`, got `int` - at `$.hits[1].text`",
            DecodeProblem("hit", "`text` is a number, and must be a text in quotes", "hit", 1),
        ),
        (
            "Expected `str`, got `int` - at `$.misses[0].why`",
            DecodeProblem("miss", "`why` is a number, and must be a text in quotes", "miss", 0),
        ),
        (
            "Expected `array`, got `str` - at `$.anchors`",
            DecodeProblem("anchors", "is a text in quotes, and must be a list", "anchors"),
        ),
        (
            "Expected `str`, got `int` - at `$.anchors[2]`",
            DecodeProblem("anchors", "is a number, and must be a text in quotes", "anchors"),
        ),
        (
            "Object contains unknown field `patern` - at `$.unless[1]`",
            DecodeProblem("unless", "`patern` is unknown; did you mean pattern?", "patern"),
        ),
        ("Object missing required field `scope`", DecodeProblem("scope", "is missing", "scope")),
        (
            "Invalid enum value 'limited' - at `$.flag`",
            DecodeProblem("flag", "'limited' is none of usage_limited, compacting, auth_needed", "flag"),
        ),
        ("Something else - at `$.id`", DecodeProblem("id", "Something else", "id")),
    ],
)
def test_decode_errors_are_translated(error: str, told: DecodeProblem) -> None:
    assert describe_decode_error(error) == told
