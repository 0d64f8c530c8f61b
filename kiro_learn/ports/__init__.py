"""What the program needs from outside, as protocols, without any implementation."""
