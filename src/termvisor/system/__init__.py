"""Access to the operating system: processes, terminals, files, sockets and the allocator.

Linux is supported; macOS branches exist where the call differs and are untested.
"""
