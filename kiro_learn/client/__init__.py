"""What a program needs to talk to the daemon: where it answers, the connection, its routes; and the hook's script."""
