"""asciinema's own player plays the films that we write."""

from pathlib import Path

import msgspec
import pytest

from termvisor.system.subprocesses import run_and_capture

pytestmark = pytest.mark.live
ROOT = Path(__file__).parents[2]
PLAYER = ROOT / ".parts" / "asciinema-player"


def test_it_understands_size_screens_markers_and_time(folder, scene, shell):
    if not (PLAYER / "package.json").exists():
        pytest.fail("asciinema's player is missing. Fetch it with: .ci/setup live")
    scene.print_word(shell, "hello-film")
    scene.tmux.type_line(shell, "printf '\\033]133;A\\007\\033]133;C;cmdline=make\\007ou''t\\n\\033]133;D;0\\007'")
    scene.visor.call_robot("wait-for", str(scene.find_pane_id(shell)), "^out$", "--regex", "--timeout-secs", "20")
    film = f"{folder}/pane.cast"
    scene.visor.run_checked("export", str(scene.find_pane_id(shell)), "--cast", "--output", film)
    status, out, errors = run_and_capture(["node", f"{ROOT}/tests/live/player.mjs", str(PLAYER), film], timeout_s=60)
    assert (status, errors) == (0, b"")
    seen = msgspec.json.decode(out)
    _, *events = map(msgspec.json.decode, Path(film).read_text("utf-8").splitlines())
    assert seen["error"] is None
    assert seen["size"] == {"cols": 100, "rows": 30}
    assert seen["output"] == "".join(event[2] for event in events if event[1] == "o")
    assert seen["markers"] == [event[2] for event in events if event[1] == "m"]
    assert "$ make" in seen["markers"]
    assert seen["duration"] == pytest.approx(sum(min(event[0], 2.0) for event in events), abs=0.01)
