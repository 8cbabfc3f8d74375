"""Paths of the files, folders and sockets of one Termvisor instance."""

from msgspec import Struct


class Paths(Struct, frozen=True):
    """Paths of one instance. Instances with different folders are independent."""

    config_dir: str
    data_dir: str
    runtime_dir: str

    @property
    def config_file(self) -> str:
        return f"{self.config_dir}/config.toml"

    @property
    def policy_file(self) -> str:
        return f"{self.config_dir}/policy.toml"

    @property
    def workflows_dir(self) -> str:
        return f"{self.config_dir}/workflows"

    @property
    def database(self) -> str:
        return f"{self.data_dir}/visor.db"

    @property
    def raw_dir(self) -> str:
        return f"{self.data_dir}/raw"

    @property
    def snapshot_file(self) -> str:
        return f"{self.data_dir}/snapshot.db"

    @property
    def log_file(self) -> str:
        return f"{self.data_dir}/log/daemon.log"

    @property
    def cache_dir(self) -> str:
        return f"{self.data_dir}/cache"

    @property
    def nonce_file(self) -> str:
        return f"{self.data_dir}/nonce"

    @property
    def shell_script_dir(self) -> str:
        """The folder of the scripts that the users' shells read."""
        return f"{self.data_dir}/shell"

    @property
    def shell_state_dir(self) -> str:
        """The folder in which each shell with the integration keeps its last state, in a file named for its pid."""
        return f"{self.runtime_dir}/shells"

    @property
    def spool_dir(self) -> str:
        """The folder to which agent hooks write their signals."""
        return f"{self.data_dir}/spool"

    @property
    def hook_file(self) -> str:
        """The script that agent hooks run."""
        return f"{self.data_dir}/hook.sh"

    @property
    def daemon_socket(self) -> str:
        return f"{self.runtime_dir}/daemon"

    @property
    def daemon_lock(self) -> str:
        """The lock of the daemon that listens in the runtime folder."""
        return f"{self.runtime_dir}/lock"

    @property
    def data_lock(self) -> str:
        """The lock of the daemon that writes the data folder, which may be shared by several runtime folders."""
        return f"{self.data_dir}/lock"

    @property
    def recorder_socket(self) -> str:
        return f"{self.runtime_dir}/rec"

    @property
    def pty_host_socket(self) -> str:
        return f"{self.runtime_dir}/pty"

    @property
    def pty_render_socket(self) -> str:
        """The private tmux that renders own terminals where there is no terminal model."""
        return f"{self.runtime_dir}/ptyview"

    @property
    def pty_result_dir(self) -> str:
        """The folder in which the PTY host keeps how each program ended, in a file named for its pid and start."""
        return f"{self.data_dir}/pty"

    @property
    def demo_socket(self) -> str:
        return f"{self.runtime_dir}/demo"

    @property
    def job_socket(self) -> str:
        """The socket of the private tmux server for jobs."""
        return f"{self.runtime_dir}/jobs"

    @property
    def job_dir(self) -> str:
        """The folder with one folder for each running job."""
        return f"{self.data_dir}/jobs"

    @property
    def render_socket(self) -> str:
        return f"{self.runtime_dir}/render"
