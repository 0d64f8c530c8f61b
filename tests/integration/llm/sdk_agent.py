"""An agent on the official SDK: it asks for a permission and a file, and answers with the results and the prompt."""

from __future__ import annotations

import asyncio
from typing import Any

import acp
from acp import schema


class SdkAgent:
    """The methods that one prompt needs; the SDK answers the rest."""

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id=f"session in {cwd}")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        options = [
            schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
            schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
        ]
        tool_call = schema.ToolCallUpdate(tool_call_id="t")
        granted = await self._client.request_permission(session_id=session_id, tool_call=tool_call, options=options)
        try:
            await self._client.read_text_file(session_id=session_id, path="/etc/hostname")
        except acp.RequestError as error:
            read = f"error {error.code}"
        else:
            read = "read"
        for text in (
            f"{granted.outcome.option_id}, {read}, " if granted.outcome.outcome == "selected" else "?",
            prompt[0].text,
        ):
            await self._client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    asyncio.run(acp.run_agent(SdkAgent()))  # type: ignore[arg-type]  # the parts of the protocol that a prompt needs
