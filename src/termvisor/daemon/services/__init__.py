"""The daemon's implementations of the services declared in `ops.api`, combined in `services`."""
