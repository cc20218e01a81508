"""A chat with LangGraph that remembers across runs.

    python examples/langgraph_chat.py agent.db ada

It reads lines from standard input. A statement is remembered, a question is answered from memory.
The model is a script, so that nothing is downloaded; put yours in the place of ``Script``.
"""

from __future__ import annotations

import hashlib
import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

import oneiros
from oneiros.integrations.langgraph import OneirosStore

FACTS = ("facts",)


class State(TypedDict, total=False):
    """One message and its answer."""

    message: str
    recalled: list[str]
    answer: str


class Script:
    """A model that answers a question with the best memory, and thanks for anything else."""

    def answer(self, message: str, recalled: list[str]) -> str:
        if not message.endswith("?"):
            return "Thank you, I will remember that."
        return f'You said: "{recalled[0]}"' if recalled else "You have not said that yet."


def recall(state: State, runtime: Runtime) -> State:
    """Find what was said about the message."""
    store = runtime.store
    assert store is not None
    found = store.search(FACTS, query=state["message"], limit=3)
    # Items without a score have nothing to do with the query.
    return {"recalled": [item.value["text"] for item in found if item.score is not None]}


def answer(state: State) -> State:
    """Answer the message."""
    return {"answer": Script().answer(state["message"], state["recalled"])}


def remember(state: State, runtime: Runtime) -> None:
    """Keep a statement; the same one again changes nothing but its time."""
    store = runtime.store
    assert store is not None
    text = state["message"]
    if not text.endswith("?"):
        store.put(FACTS, hashlib.sha256(text.encode()).hexdigest(), {"text": text})


def main(path: str, user: str) -> None:
    """Chat until the input ends."""
    graph = StateGraph(State)
    for node in (recall, answer, remember):
        graph.add_node(node)
    graph.add_edge(START, "recall")
    graph.add_edge("recall", "answer")
    graph.add_edge("answer", "remember")
    graph.add_edge("remember", END)
    with oneiros.Engine(path) as engine:
        # The scope holds the memories of this user, and sees no others.
        store = OneirosStore(engine.scope(user=user), index={"fields": ["text"]})
        chat = graph.compile(store=store)
        for line in sys.stdin:
            if message := line.strip():
                sys.stdout.write(chat.invoke({"message": message})["answer"] + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
