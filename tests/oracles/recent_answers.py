"""Which answer is given again, by definition: docs/systems/omega.md O30."""

from __future__ import annotations

from collections.abc import Hashable


class Recent:
    """128 answers by question, those asked for last; 60 seconds, 300 where confidence is above 0.7."""

    def __init__(self, most: int = 128) -> None:
        self.most = most
        self.writes = 0
        self.kept: list[
            tuple[Hashable, int, float, float, object]
        ] = []  # asked for last at the end

    def write(self) -> None:
        """Any memory is written."""
        self.writes += 1

    def ask(self, question: Hashable, now: float) -> object | None:
        """Return the answer that is given again; None: it is looked for anew."""
        for place, (held, writes, asked, seconds, answer) in enumerate(self.kept):
            if held == question:
                one = self.kept.pop(place)
                if writes == self.writes and 0 <= now - asked <= seconds:
                    self.kept.append(one)
                    return answer
                return None
        return None

    def answer(self, question: Hashable, now: float, confidence: float, answer: object) -> None:
        """Keep what was found anew."""
        seconds = 300.0 if confidence > 0.7 else 60.0
        fresh = [one for one in self.kept if one[0] != question and one[1] == self.writes]
        self.kept = [*fresh, (question, self.writes, now, seconds, answer)][-self.most :]
