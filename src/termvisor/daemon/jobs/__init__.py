"""Jobs in the daemon: where their terminals are opened, and the service for operations and the gate."""
