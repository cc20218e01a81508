"""Measuring how well a search finds what people judged relevant.

- :mod:`oneiros.evaluation.metrics`: nDCG, recall, reciprocal rank, one ranking at a time
- :mod:`oneiros.evaluation.run`: those figures over many questions, by type
- :mod:`oneiros.evaluation.tasks`: profiles measured through the engine
- :mod:`oneiros.evaluation.tuning`: better numbers for a profile, found on some questions and believed
  on others
- :mod:`oneiros.evaluation.ablation`: what each part of a profile is worth
- :mod:`oneiros.evaluation.metrics`: how sure a gain is
- :mod:`oneiros.evaluation.tasks`: what profiles are measured against
- :mod:`oneiros.evaluation.collection`: reader of judged collections (documents, queries, grades)
"""
