"""From the ranked candidates to what is returned: one working list, and one file a stage.

``steps`` says which stages a profile has, and in which order.
"""
