"""Measurement of search quality on judged queries.

- :mod:`oneiros.evaluation.metrics`: nDCG, recall and reciprocal rank of one ranking; the confidence
  interval of a gain
- :mod:`oneiros.evaluation.run`: averages of these over many questions, by type
- :mod:`oneiros.evaluation.tasks`: measurement of profiles through the engine
- :mod:`oneiros.evaluation.tuning`: search for better parameters of a profile, with cross-validation
- :mod:`oneiros.evaluation.ablation`: the contribution of each part of a profile
- :mod:`oneiros.evaluation.use`: the effect of earlier searches and feedback on later questions
- :mod:`oneiros.evaluation.collection`: reader of judged collections (documents, queries, grades)
"""
