"""A secret that is typed into a job leaves no trace."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.live.jobs.job_scene import PLACES
from tests.live.polling import wait_until

SECRET = "correct-horse-battery"
ASK = f"import getpass; pw = getpass.getpass('password: '); print('got', pw, len(pw)); print('{SECRET[:4]}')"


def find_traces(jobs, secret: str) -> list[str]:
    """Return the files of the instance that contain a secret, and `messages` if tmux logged it."""
    root = Path(jobs.visor.paths.data_dir).parent
    files = [path for path in root.rglob("*") if path.is_file() and path.parent.name != "scripts"]
    found = [str(path) for path in files if secret.encode() in path.read_bytes()]
    socket = jobs.visor.paths.job_socket
    for words in (["show-messages"], ["list-buffers"]) if os.path.exists(socket) else ():
        shown = subprocess.run(["tmux", "-N", "-S", socket, *words], capture_output=True, check=False).stdout
        found += words if secret.encode() in shown else []
    return found


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_typed_and_masked_wherever_it_comes_back(jobs, place):
    job = jobs.run_python(ASK, "--place", place)
    waiting = jobs.wait(job)
    assert (waiting["evidence"], waiting["prompt"]) == ("secret_prompt", "password:")
    assert jobs.send(job, "--secret", "--stdin", text=SECRET.encode())["status"] == "delivered"
    assert jobs.wait(job, "--ended")["code"] == 0
    assert jobs.harvest(job) == f"password: \ngot [redacted:secret] {len(SECRET)}\n{SECRET[:4]}\n"
    assert wait_until(lambda: find_traces(jobs, SECRET) == [])
    assert jobs.harvest_raw(job).count(b"*" * len(SECRET)) == 1


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_not_typed_where_it_would_be_shown(jobs, place):
    job = jobs.run_python("input('name? ')", "--place", place)
    jobs.wait(job)
    assert jobs.send(job, "--secret", "--stdin", text=b"another-secret")["error"]["details"]["why"] == "echoes"
    jobs.call("job", "stop", str(job))


@pytest.mark.parametrize("place", PLACES)
def test_a_printed_secret_is_kept_by_reference_only(jobs, place, tmp_path):
    """A program like `claude setup-token`: it asks for a code and prints a token once."""
    token = "sk-ant-oat01-" + "Zx9" * 20
    script = (
        "print('Visit https://claude.ai/oauth/authorize?code=true'); code = input('Paste code here > ');"
        f"print('Your token:', {token[:13]!r} + {token[13:]!r} if code == 'abc-123' else 'wrong')"
    )
    job = jobs.run_python(script, "--place", place, "--extractor", "claude_setup_token")
    assert jobs.wait(job)["prompt"] == "Paste code here >"
    jobs.send(job, "abc-123")
    assert jobs.wait(job, "--ended")["code"] == 0
    wait_until(lambda: token.encode() not in jobs.harvest_raw(job))
    target = tmp_path / "token"
    found = jobs.call("job", "extract", str(job), "claude_setup_token", "--secret-file", str(target))
    assert (found["secrets"], found["values"]["url"]) == (["token"], "https://claude.ai/oauth/authorize?code=true")
    assert (target.read_text(), target.stat().st_mode & 0o777) == (f"token={token}\n", 0o600)
    assert find_traces(jobs, token) == []
