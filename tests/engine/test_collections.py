"""Words, meaning and both on real collections, through the engine, beside the published figures.

The data stand outside the repository: ONEIROS_DATA names their folder.
"""

from __future__ import annotations

import pytest

import oneiros
from oneiros import profiles
from oneiros.evaluation import collection
from oneiros.scoring.channels import LexicalChannel, VectorChannel
from oneiros.scoring.fusion import ReciprocalRankFusion
from tests.collections_on_disk import folder_of
from tests.oracles.metrics import ndcg

FIGURES = {"cranfield": (0.3595, 0.3736, 0.4053), "cisi": (0.3943, 0.4207, 0.4448)}
"""nDCG@10 of BM25, dense and RRF (k 60); figures of the data's own README."""
TOLERANCE = 0.005
FUSED = profiles.get("reverie").replace(
    name="rrf", fusion=ReciprocalRankFusion(k=60.0), factors=(), reinforcement=None
)


@pytest.mark.parametrize("name", FIGURES)
def test_fusion_is_not_below_either_channel(name: str) -> None:
    folder = folder_of(name)
    data = collection.read(folder)
    judged = [n for n, query in enumerate(data.queries) if query.answers]
    with oneiros.Engine(":memory:", profile=FUSED, vector_index="flat") as mind:  # k1 1.2, b 0.75
        mind.add_many(
            {"id": one.id, "title": one.title, "text": one.text, "embedding": vector}
            for one, vector in zip(data.documents, data.document_vectors, strict=True)
        )

        def quality(profile: oneiros.Profile) -> float:
            responses = mind.search_many(
                [data.queries[n].text for n in judged],
                embeddings=[data.query_vectors[n] for n in judged],
                profile=profile,
            )
            values = [
                ndcg(response.ids, data.queries[n].answers, 10)
                for n, response in zip(judged, responses, strict=True)
            ]
            return sum(values) / len(values)

        words = quality(FUSED.replace(channels=(LexicalChannel(),)))
        meaning = quality(FUSED.replace(channels=(VectorChannel(),)))
        both = quality(FUSED)
    print(f"\n{name}: nDCG@10 words {words:.4f}, meaning {meaning:.4f}, RRF k 60 {both:.4f}")  # noqa: T201
    assert words >= FIGURES[name][0] - TOLERANCE
    assert meaning == pytest.approx(FIGURES[name][1], abs=5e-5)
    assert both >= FIGURES[name][2] - TOLERANCE
    assert both >= max(words, meaning)
