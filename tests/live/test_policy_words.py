"""The policy splits quoted command lines into the same words as a real bash."""

import random
import string
import subprocess

import pytest

from termvisor.policy.shell import call_extractor, grammar
from termvisor.policy.shell.word import UNKNOWN_TEXT

PLAIN = string.ascii_letters[:6] + "01!%+,-./:=@]^_}"
QUOTED = PLAIN + ' ;|#"'
READ = r"""
p() { printf '%s\037' p "$@"; }
while IFS= read -r -d '' line; do
    said=$(eval "p $line" 2>/dev/null) && printf '%s' "$said"
    printf '\036'
done
"""


def draw_word_part(rng: random.Random) -> str:
    plain = "".join(rng.choices(PLAIN, k=rng.randint(1, 2)))
    inside = "".join(rng.choices(QUOTED, k=rng.randint(0, 3)))
    escaped = rng.choice(["\\'", "\\\\", "\\x41", "\\n", "\\101", ""])
    forms = [plain, f"'{inside}'", f"$'{escaped}{plain}'", "\\" + rng.choice(QUOTED + "'$`&()<>\\"), "{a,b}", '$"ab"']
    forms.append('"' + plain.replace("!", "x") + rng.choice(['\\"', "\\\\", "\\$", "\\a", "'", ""]) + '"')
    return rng.choice(forms)


def draw_line(rng: random.Random) -> str:
    words = ["".join(draw_word_part(rng) for _ in range(rng.randint(1, 4))) for _ in range(rng.randint(1, 3))]
    words.insert(rng.randint(0, len(words)), rng.choice(["", ">/dev/null", "2>&1", "</dev/null", "<<< x"]))
    return " ".join(words)


def extract_words(text: str) -> list[str] | None:
    """Return the words, or None if the parser cannot read the line."""
    root = grammar.parse_script(f"p {text}")
    found, is_whole = call_extractor.extract_calls(root) if root and not root.has_error else ([], False)
    return [word.text for word in found[-1].words] if is_whole else None


@pytest.mark.live
def test_the_policy_extracts_the_same_words_as_bash() -> None:
    rng = random.Random(7)
    lines = [text for text in (draw_line(rng) for _ in range(1500)) if ">/dev/null" not in text]
    given = "".join(f"{text}\0" for text in lines)
    command = ["bash", "--norc", "-c", READ]
    outputs = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.split("\x1e")
    read = [
        (text, output.split("\x1f")[:-1], extract_words(text))
        for text, output in zip(lines, outputs, strict=False)
        if output
    ]
    compared = [
        (text, expected, extracted)
        for text, expected, extracted in read
        if extracted is not None and UNKNOWN_TEXT not in "".join(extracted)
    ]
    assert len(compared) > 800
    assert [row for row in compared if row[1] != row[2]] == []
