"""systemd and launchd: their files, their commands, and the message that the daemon is ready."""
