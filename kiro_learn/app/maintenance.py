"""The daemon's service and its doctor, with the real files and programs of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kiro_learn.adapters.files import default_home, private
from kiro_learn.adapters.service_managers.finding import find_service_manager
from kiro_learn.services.autostart import Autostart


def open_autostart(home: Path, environment: Mapping[str, str]) -> Autostart:
    """For the user who runs us.

    Raises:
      ServiceError: this machine has no service manager for a user's services.
    """
    unnamed = {name: value for name, value in environment.items() if name != "KIRO_LEARN_HOME"}
    return Autostart(
        find_service_manager(
            home,
            environment,
            is_default_home=home == default_home(unnamed),
            user_home=Path.home(),
            write_private=private.write,
        )
    )
