"""Write the current outputs of commands into the pages; run it in the environment of the project.

Blocks of a page that begin with ``$ kernelmean ...`` get what the command prints now.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).parent
COMMAND = re.compile(r"(```console\n\$ (kernelmean .*?)\n).*?```", flags=re.DOTALL)


def filled(block: re.Match[str]) -> str:
    """Return the block with the output of its command."""
    output = subprocess.run(block.group(2).split(), capture_output=True, text=True, check=True).stdout
    return f"{block.group(1)}{output}```"


def main() -> None:
    """Rewrite the pages."""
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        new = COMMAND.sub(filled, text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(DOCS)} has new outputs")


if __name__ == "__main__":
    main()
