"""The demo's programs are cheap and harmless."""

import pytest

from termvisor.frontends.demo.scenes import DEMO_SCENES, FAKE_TOKEN
from termvisor.redaction import redact


@pytest.mark.parametrize("name", DEMO_SCENES)
@pytest.mark.parametrize("number", [0, 3, 17])
def test_a_scene_prints_a_few_lines_per_second_without_long_pauses(name: str, number: int) -> None:
    beats = list(DEMO_SCENES[name](number))
    seconds = sum(rest for _, rest in beats)
    printed = sum(len(text) for text, _ in beats)
    assert 10 < seconds < 120
    assert printed / seconds < 500
    assert max(rest for _, rest in beats) <= 8


def test_each_scene_has_unique_words_to_search_for() -> None:
    texts = {name: "".join(text for text, _ in scene(0)) for name, scene in DEMO_SCENES.items()}
    words = {"build": "kingfisher\r", "log": "albatross", "shell": "pelican", "top": "thumbnailer"}
    assert {name: [where for where, text in texts.items() if word in text] for name, word in words.items()} == {
        name: [name] for name in words
    }


def test_the_log_prints_a_secret_that_redaction_knows() -> None:
    line = next(text for text, _ in DEMO_SCENES["log"](0) if FAKE_TOKEN in text)
    assert FAKE_TOKEN not in redact(line)


def test_the_shell_marks_its_prompts_and_one_command_fails() -> None:
    text = "".join(text for text, _ in DEMO_SCENES["shell"](0))
    assert text.count("\x1b]133;A") == text.count("\x1b]133;C") == text.count("\x1b]133;D") == 5
    assert "\x1b]133;D;1\x07" in text


def test_top_uses_the_alternate_screen_and_leaves_it() -> None:
    text = "".join(text for text, _ in DEMO_SCENES["top"](0))
    assert text.index("\x1b[?1049h") < text.index("indexer") < text.index("\x1b[?1049l")
