"""The kiro-learn command."""
