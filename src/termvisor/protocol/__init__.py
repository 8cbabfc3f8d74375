"""What client and daemon say to each other over the Unix socket, and how one finds the other."""
