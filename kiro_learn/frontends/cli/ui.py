"""The verb ui: a link that lets one browser in, once; it is opened if there is a screen."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping

import click

from kiro_learn.client import calls
from kiro_learn.client.results import ViewerCode
from kiro_learn.client.routes import Client
from kiro_learn.frontends.cli.options import printing
from kiro_learn.frontends.cli.shell import Shell

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
"""Variables of which one is set if there is a graphical browser; without one, a text browser would open here."""


@click.command("ui")
@click.option("--no-open", is_flag=True, help="Print the link only.")
@printing
def ui_verb(shell: Shell, *, no_open: bool) -> None:
    """Open the viewer in a browser."""
    with shell.client() as client:
        code, link = link_to(client)
    if shell.as_json:
        shell.print_json({**code._asdict(), "link": link})
    else:
        show(shell, code, link)
    if not no_open:
        open_browser(shell.environment, link)


def link_to(client: Client, *, host: str = "") -> tuple[ViewerCode, str]:
    """A new code, and the whole link; ``host``: another name of this machine than the one in the daemon's address."""
    code = client.carry_out(calls.viewer_code(client))
    place = f"{host}:{client.address.rpartition(':')[2]}" if host else client.address
    return code, f"http://{place}{code.path}"


def show(shell: Shell, code: ViewerCode, link: str) -> None:
    shell.print([f"{shell.out.mark('ok')} Viewer  {shell.out.command(link)}"])
    shell.print([f"  {shell.out.dim(f'lets one browser in, once, within {code.seconds:.0f} seconds')}"])


def open_browser(environment: Mapping[str, str], link: str) -> None:
    """Open the link in the user's graphical browser, if there is one."""
    if sys.platform == "darwin" or any(environment.get(name) for name in SCREENS):
        webbrowser.open(link)
