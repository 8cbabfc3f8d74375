import pytest

from tests.unit.policy.policy_requests import find_classes


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("apt-get -y install x", "package_change"),
        ("npm --prefix a install", "package_change"),
        ("yarn", "package_change"),
        ("pacman -Syu", "package_change"),
        ("rpm -e x", "package_change"),
        ("uv tool install x", "package_change"),
        ("pip $X", "dynamic"),
        ("systemctl --user restart x", "service_change"),
        ("service x restart", "service_change"),
        ("ufw disable", "service_change"),
        ("sysctl a=1", "service_change"),
        ("crontab -u me -r", "service_change"),
        ("mount a b", "service_change"),
        ("kill -TERM 1", "process_kill"),
        ("killall -9 x", "process_kill"),
        ("parted /dev/sda mklabel gpt", "disk"),
        ("usermod -aG sudo me", "permissions"),
    ],
)
def test_system_changes_are_classified(line: str, found: str) -> None:
    assert find_classes(line) == {found}


@pytest.mark.parametrize(
    "line",
    [
        "apt list",
        "npm ls",
        "rpm -qa",
        "uv pip list",
        "systemctl list-units",
        "systemctl is-active x",
        "service x status",
        "ufw status",
        "sysctl a",
        "crontab -l",
        "mount",
        "kill -0 1",
        "fuser 80/tcp",
        "fdisk -l",
        "parted -l",
        "pip show x",
    ],
)
def test_read_only_system_commands_have_no_class(line: str) -> None:
    assert find_classes(line) == set()


@pytest.mark.parametrize("line", ["npm run x", "cargo test", "go run .", "yarn test", "make", "pytest -q", "./x"])
def test_project_code_has_an_unknown_effect(line: str) -> None:
    assert find_classes(line) == {"unknown_effect"}


@pytest.mark.parametrize("line", ["reboot -n", "shutdown -n now", "npm --workspace p publish", "npm --frob p publish"])
def test_options_before_the_verb_hide_nothing(line: str) -> None:
    assert find_classes(line) & {"service_change", "package_change"} != set()


def test_scheduled_commands_are_analyzed() -> None:
    assert find_classes("at now <<< 'rm -rf /'") == {"service_change", "destructive_delete", "system_delete"}
