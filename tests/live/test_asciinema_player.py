"""asciinema's player can play exported asciicasts."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from termvisor.system.subprocesses import run_and_capture

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]
PLAYER = ROOT / ".parts" / "asciinema-player"


def test_the_asciinema_player_reads_size_output_markers_and_duration(folder, scene, shell):
    if not (PLAYER / "package.json").exists():
        pytest.fail("asciinema's player is missing. Fetch it with: .ci/setup live")
    scene.print_word(shell, "hello-film")
    scene.tmux.type_line(shell, "printf '\\033]133;A\\007\\033]133;C;cmdline=make\\007ou''t\\n\\033]133;D;0\\007'")
    scene.visor.call_robot("wait-for", str(scene.find_pane_id(shell)), "^out$", "--regex", "--timeout-secs", "20")
    cast_path = f"{folder}/pane.cast"
    scene.visor.run_checked("export", str(scene.find_pane_id(shell)), "--cast", "--output", cast_path)
    status, out, errors = run_and_capture(
        ["node", f"{ROOT}/tests/live/player.mjs", str(PLAYER), cast_path], timeout_s=60
    )
    assert (status, errors) == (0, b"")
    player_state = msgspec.json.decode(out)
    _, *events = map(msgspec.json.decode, Path(cast_path).read_text("utf-8").splitlines())
    assert player_state["error"] is None
    assert player_state["size"] == {"cols": 100, "rows": 30}
    assert player_state["output"] == "".join(event[2] for event in events if event[1] == "o")
    assert player_state["markers"] == [event[2] for event in events if event[1] == "m"]
    assert "$ make" in player_state["markers"]
    pauses = [later - earlier for earlier, later in pairwise([0.0, *(event[0] for event in events)])]
    assert player_state["duration"] == pytest.approx(sum(min(pause, 2.0) for pause in pauses), abs=0.01)
