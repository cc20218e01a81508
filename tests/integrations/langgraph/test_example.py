"""The example remembers across runs, for each user apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WHY = "needs LangGraph: pip install -r tests/integrations/langgraph/requirements.txt"
pytest.importorskip("langgraph.graph", reason=WHY)

EXAMPLE = Path(__file__).parents[3] / "examples" / "langgraph_chat.py"
THANKS = "Thank you, I will remember that."


def chat(store: Path, user: str, *messages: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), str(store), user],
        check=True,
        input="\n".join(messages),
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_the_chat_remembers_across_runs(tmp_path: Path) -> None:
    store = tmp_path / "agent.db"
    assert chat(store, "ada", "I take my coffee black.", "My dog is called Byte.") == [THANKS] * 2
    question = "How do I take my coffee?"
    known = 'You said: "I take my coffee black."'
    unknown = "You have not said that yet."
    assert chat(store, "grace", question) == [unknown]
    assert chat(
        *(store, "ada", question, "I take my coffee black."),
        *("What is my dog called?", "When is the next solar eclipse?"),
    ) == [known, THANKS, 'You said: "My dog is called Byte."', unknown]
