"""The values that all other code uses: frozen, complete, and unaware of where they are stored."""
