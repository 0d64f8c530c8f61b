"""A folder with Aider's history."""

from __future__ import annotations

from pathlib import Path

NAME = ".aider.chat.history.md"
SHOP = """
# aider chat started at 2026-06-01 14:00:00

> Aider v0.86.1
> Main model: some-model with diff edit format
> Git repo: .git with 12 files

#### why is the basket empty?
#### I see it since yesterday

The cookie is read too early. Try:

```markdown
#### not a prompt
> not the program
# aider chat started at 2020-01-01 00:00:00
```

> Tokens: 2.1k sent, 120 received.
> Applied edit to basket.py
> Commit ab12cd3 fix: read the cookie later

#### /run pytest -q

> 1 failed
> Add 0.1k tokens of command output to the chat? (Y)es/(N)o [Yes]: y

#### /add basket.py

> Added basket.py to the chat

#### <blank>

# aider chat started at 2026-06-02 09:00:00

#### which port?

Port 8421.
"""


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text(SHOP, "utf-8")
