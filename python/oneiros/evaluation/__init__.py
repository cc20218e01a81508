"""Measuring how well a search finds what people judged relevant.

- :mod:`oneiros.evaluation.metrics`: nDCG, recall, reciprocal rank, one ranking at a time
- :mod:`oneiros.evaluation.run`: those figures over many questions, by type
- :mod:`oneiros.evaluation.collection`: reader of judged collections (documents, queries, grades)
"""
