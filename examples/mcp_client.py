"""An agent's memory over MCP: a scripted client that remembers across runs.

Needs ``pip install 'oneiros[mcp]'``. It starts ``oneiros mcp`` as a process of its own, as an agent would,
and uses its tools. Run it twice with the same file: the second run recalls what the first one
stored, and notices that a fact has changed.

    python examples/mcp_client.py agent.db
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters

FACTS = {"first": "Deploys happen on Tuesdays", "later": "Deploys happen on Fridays now"}
QUESTION = "When do deploys happen?"


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool, and return its result or raise what it says."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(result.content[0].text)
    return result.structured_content


async def talk(client: Client) -> None:
    found = await call(client, "memory_recall", query=QUESTION)
    known = found["memories"]
    print(f"{QUESTION} {known[0]['text'] if known else 'nothing known'}")
    if not known:
        await call(client, "memory_remember", text=FACTS["first"], kind="fact", source="user")
        return
    old = known[0]
    if old["text"] != FACTS["later"]:
        new = await call(client, "memory_remember", text=FACTS["later"], kind="fact")
        await call(client, "memory_supersede", old=old["id"], new=new["id"], reason="moved")
        reasons = await call(client, "memory_why_not", query=QUESTION, id=old["id"])
        print(f"the former answer is now {reasons['verdict']}")
    await call(client, "memory_feedback", id=old["id"], verdict="helpful")


async def main(store: str) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "oneiros", "mcp", "--store", store, "--user", "ada", "--project", "atlas"],
    )
    async with Client(command) as client:
        await talk(client)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
