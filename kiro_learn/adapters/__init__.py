"""Implementations of the ports, over libraries, files and processes."""
