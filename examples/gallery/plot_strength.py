"""
Use makes a memory last
=======================

Stability grows when a memory is found again, the more, the longer it was not used. Strength falls with each
dream and rises by replay.
"""

import matplotlib.pyplot as plt
import numpy as np

import oneiros
from oneiros import kernels

start = 1_735_689_600.0

# %%
# Two memories, one asked for every week, the other never, under ``cognitive``, where retention depends on
# stability.

engine = oneiros.Engine(":memory:", profile="cognitive", clock=lambda: start)
engine.add("Ada likes her coffee black", id="used", embedding=[1.0, 0.0])
engine.add("The printer is on the second floor", id="unused", embedding=[0.0, 1.0])
days = np.arange(0, 181)
stability = {"used": [], "unused": []}
last_used = {"used": 0, "unused": 0}
retention = {"used": [], "unused": []}
for day in days:
    if day and day % 7 == 0:
        now = start + 86_400 * float(day)
        engine.search("coffee", k=1, embedding=[1.0, 0.0], session=f"day {day}", now=now)
        engine.flush()
        last_used["used"] = day
    for id in ("used", "unused"):
        memory = engine.get(id)
        stability[id].append(memory.stability)
        idle = float(day - last_used[id])
        retention[id].append(
            kernels.retention(idle, memory.stability, memory.importance, memory.category)
        )

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
for id in ("used", "unused"):
    above.plot(days, stability[id], label=f"{id}: stability")
    below.plot(days, retention[id], label=f"{id}: retention")
below.set(xlabel="days")
above.legend()
below.legend()

# %%
# Strength, under ``reverie``: each cycle takes 5 %, so the number of cycles decides, not the time between them. A
# replay gives back up to 0.1 while a memory is young.

nights = range(61)
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for label, gap in (("a cycle a day", 1), ("a cycle a week", 7)):
    strength = [1.0]
    for night in nights[1:]:
        strength.append(kernels.downscale(strength[-1]) if night % gap == 0 else strength[-1])
    axes.step(nights, strength, where="post", label=label)
axes.set(xlabel="days", ylabel="strength", ylim=(0, 1.05))
axes.legend()
print(f"replay of a memory an hour old with three peers: {kernels.replay_delta(3, 1.0):.3f}")
