"""A real bash agrees with the policy about the words of a command line, however they are quoted."""

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


def piece(draw: random.Random) -> str:
    plain = "".join(draw.choices(PLAIN, k=draw.randint(1, 2)))
    inside = "".join(draw.choices(QUOTED, k=draw.randint(0, 3)))
    escaped = draw.choice(["\\'", "\\\\", "\\x41", "\\n", "\\101", ""])
    forms = [plain, f"'{inside}'", f"$'{escaped}{plain}'", "\\" + draw.choice(QUOTED + "'$`&()<>\\"), "{a,b}", '$"ab"']
    forms.append('"' + plain.replace("!", "x") + draw.choice(['\\"', "\\\\", "\\$", "\\a", "'", ""]) + '"')
    return draw.choice(forms)


def line(draw: random.Random) -> str:
    words = ["".join(piece(draw) for _ in range(draw.randint(1, 4))) for _ in range(draw.randint(1, 3))]
    words.insert(draw.randint(0, len(words)), draw.choice(["", ">/dev/null", "2>&1", "</dev/null", "<<< x"]))
    return " ".join(words)


def ours(text: str) -> list[str] | None:
    """None where we say that we cannot read it."""
    root = grammar.parse_script(f"p {text}")
    found, is_whole = call_extractor.extract_calls(root) if root and not root.has_error else ([], False)
    return [word.text for word in found[-1].words] if is_whole else None


@pytest.mark.live
def test_a_real_bash_hands_over_the_same_words() -> None:
    draw = random.Random(7)
    lines = [text for text in (line(draw) for _ in range(1500)) if ">/dev/null" not in text]
    given = "".join(f"{text}\0" for text in lines)
    command = ["bash", "--norc", "-c", READ]
    said = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.split("\x1e")
    read = [(text, answer.split("\x1f")[:-1], ours(text)) for text, answer in zip(lines, said, strict=False) if answer]
    compared = [
        (text, theirs, mine) for text, theirs, mine in read if mine is not None and UNKNOWN_TEXT not in "".join(mine)
    ]
    assert len(compared) > 800
    assert [each for each in compared if each[1] != each[2]] == []
