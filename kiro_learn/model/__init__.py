"""The values everything else speaks in: frozen, complete, and ignorant of where they are kept."""
