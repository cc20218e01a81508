"""
What a dream does to a store
============================

Three hundred memories, a third of them duplicates, go through several dream cycles. A plan
lists the memories to remove, with reasons, before anything changes.
"""

from collections import Counter

import matplotlib.pyplot as plt

import oneiros

january, may = 1_735_689_600.0, 1_746_057_600.0
engine = oneiros.Engine(":memory:", clock=lambda: may)
for number in range(200):
    when = january + 86_400 * (number % 100)
    engine.add(f"Fact {number}: the door code of room {number} is {7 * number}", now=when)
for number in range(100):
    text = f"Fact {number}: the door code of room {number} is {7 * number}"
    engine.add(text, now=january + 86_400 * 100)

# %%
# A cycle of the default profile removes at most a tenth of the memories a day, and here only
# duplicates. After four nights all hundred are gone, and the facts stay.

live = [engine.count()]
reasons = Counter()
for night in range(8):
    report = engine.dream(may + 86_400 * night)
    reasons.update(change.because.split(" as ")[0] for change in report.named if change.removal)
    live.append(report.live_after)
print(live)
print(reasons)

# %%
# With ``keep=100`` what is worth least is archived, and comes back when there is room again.

for keep in (100, 150, 200):
    engine.dream(may + 86_400 * (20 + keep / 50), keep=keep)
    status = oneiros.where(status="archived")
    print(keep, engine.count(), engine.count(status))

# %%
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.step(range(len(live)), live, where="post")
axes.set(xlabel="nights", ylabel="memories that are not deleted", ylim=(0, 320))
