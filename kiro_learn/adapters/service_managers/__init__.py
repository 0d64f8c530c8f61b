"""systemd and launchd: their files, their commands, and the message to systemd that the daemon is ready."""
