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
        "npm run install-all",
        "npm ls",
        "pacman -Ss x",
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
        "kill -s 0 1",
        "fuser 80/tcp",
        "fdisk -l",
        "parted -l",
        "cargo test",
        "go run .",
        "pip show x",
        "yarn test",
    ],
)
def test_read_only_system_commands_have_no_class(line: str) -> None:
    assert find_classes(line) == set()


def test_scheduled_commands_are_analyzed() -> None:
    assert find_classes("at now <<< 'rm -rf /'") == {"service_change", "destructive_delete", "system_delete"}
