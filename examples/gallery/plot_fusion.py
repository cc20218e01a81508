"""
Two lists become one
====================

Words and vectors each rank ten memories. By ranks, a hit counts by its place alone. By scores, a hit that
is far ahead stays ahead.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneiros
from oneiros import kernels

names = [f"m{number}" for number in range(10)]
bm25 = np.array([9.1, 3.0, 2.9, 2.8, 2.7, 1.2, 0.8, 0.4, 0.0, 0.0])
cosine = np.array([0.31, 0.35, 0.12, 0.52, 0.20, 0.49, 0.10, 0.44, 0.55, 0.28])

# %%
# By ranks: each list gives 1 / (60 + rank).

by_words = [names[place] for place in np.argsort(-bm25) if bm25[place] > 0]
by_vectors = [names[place] for place in np.argsort(-cosine)]
ranked = dict(oneiros.rrf([by_words, by_vectors]))
print(list(ranked)[:4])

# %%
# By scores: a blend of both, with the best BM25 as the scale. ``m0`` has three times the words of any other.

blended = kernels.blend(bm25, cosine, 0.55)
print([names[place] for place in np.argsort(-blended)][:4])

# %%
# Side by side, each relative to its best:

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
places = np.arange(len(names))
by_rank = np.array([ranked[name] for name in names])
axes.bar(places - 0.2, by_rank / by_rank.max(), 0.4, label="reciprocal ranks")
axes.bar(places + 0.2, blended / blended.max(), 0.4, label="blend of scores")
axes.set(xticks=places, xticklabels=names, ylabel="share of the best")
axes.legend()
