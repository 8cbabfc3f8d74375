"""Any bytes as config file and any environment values: Settings, or a ConfigError that names the place."""

import tempfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.errors import ConfigError
from termvisor.settings import Paths, Settings, list_settings, load_settings
from tests.fuzz.example_count import build_settings

NAMES = [row.name for row in list_settings()]
ENVIRONMENT = [row.env for row in list_settings()]
ODD_VALUES = [
    *(
        '""',
        '"x"',
        "1",
        "-1",
        "0",
        "1e400",
        "nan",
        "inf",
        "0x10",
        "true",
        "[]",
        '["a"]',
        "[[1]]",
        "{a = 1}",
        "''",
        "1_0",
    ),
    *(
        "1979-05-27T07:32:00Z",
        "9" * 30,
        '["("]',
        '["a{1,99999}"]',
        '["' + "(" * 200 + '"]',
        '["[a-"]',
        r'["\\"]',
        '["(?i)x"]',
    ),
    *(
        r'"\u0000"',
        r'["\u0000"]',
        '"é"',
        '["(?P<n>a)(?P<n>b)"]',
        '["a**"]',
        '[""]',
        '["(a+)+$"]',
        "[true]",
        '"auto"',
        "5.5",
    ),
]
lines = st.one_of(
    st.builds(
        lambda name, value: f"{name} = {value}",
        st.sampled_from([*NAMES, "unknown", "a.b"]),
        st.sampled_from(ODD_VALUES),
    ),
    st.sampled_from(["[table]", "[[list]]", "# comment", "=", "a =", "\ufeff", '"quoted" = 1', "[a", "\r"]),
    st.text(max_size=8),
)
files = st.lists(lines, max_size=6).map(lambda content: "\n".join(content).encode("utf-8", "surrogatepass"))
words = st.sampled_from(
    ["", "1", "-1", "nan", "a,b", "(", "a{1,99999}", "\n", "\udcff", "debug", "[", '["a"]', "9" * 5000]
)


def load_from_bytes(data: bytes, environ: dict[str, str]) -> Settings | ConfigError:
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/config.toml", "wb") as file:
            file.write(data)
        try:
            return load_settings(Paths(folder, folder, folder), environ)
        except ConfigError as error:
            return error


@build_settings(120)
@given(files | st.binary(max_size=60), st.dictionaries(st.sampled_from(ENVIRONMENT), words, max_size=2))
@example(b"a = " + b"[" * 5000, {})
@example(b"a = " + b"9" * 5000, {})
@example(b"[" + b"a." * 5000 + b"a]", {})
@example(b'redact_patterns = ["' + b"(" * 3000 + b'x"]', {})
@example(b"\xff\xfe", {})
def test_any_config_file_and_environment_is_loaded_or_refused_with_a_message(data, environ):
    found = load_from_bytes(data, environ)
    assert isinstance(found, (Settings, ConfigError))
    assert str(found)


@pytest.mark.parametrize("kind", ["folder", "dangling link", "loop"])
def test_a_config_path_that_is_no_regular_file_is_refused_or_treated_as_absent(tmp_path, kind):
    path = tmp_path / "config.toml"
    {
        "folder": lambda: path.mkdir(),
        "dangling link": lambda: path.symlink_to("/nowhere"),
        "loop": lambda: path.symlink_to(path),
    }[kind]()
    try:
        assert load_settings(Paths(str(tmp_path), str(tmp_path), str(tmp_path)), {}) == Settings()
    except ConfigError as error:
        assert str(path) in error.message
