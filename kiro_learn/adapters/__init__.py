"""The ports on real libraries, files and processes."""
