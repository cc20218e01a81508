"""
What age does to a score
========================

Six profiles, side by side: the share of its score that a memory keeps without any use. ``oneiros.factors``
returns each factor of a profile for a table of memories.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneiros

now = 1_750_000_000.0
days = np.linspace(0.0, 365.0, 366)
then = now - 86_400 * days

# %%
# A memory of the kind "note" fades as below. Under ``oneiros`` age takes 7.5 % at most, since finding an old memory
# when it is asked for matters more than ranking young ones first. ``ciar`` halves every 30 days.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name in ("oneiros", "reverie", "cognitive", "mnemosyne", "omega", "ciar"):
    factors = oneiros.factors({"created_at": then, "updated_at": then}, name, now=now)
    score = np.prod([*factors.values()], axis=0)
    axes.plot(days, score / score[0], label=name)
axes.set(xlabel="days since it was added", ylabel="share of the score", ylim=(0, 1.05))
axes.legend(ncols=3)

# %%
# Under ``omega`` the kind decides. Constraints and preferences do not fade, session summaries do within weeks.

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for kind in ("constraint", "lesson_learned", "decision", "note", "session_summary"):
    table = {"created_at": then, "updated_at": then, "kind": [kind] * len(then)}
    axes.plot(days, oneiros.factors(table, "omega", now=now)["decay"], label=kind)
axes.set(xlabel="days since it was added", ylabel="decay under omega", ylim=(0, 1.05))
axes.legend(ncols=3)
