"""Training sets, translation models and their evaluation.

Importing a module of this package loads neither torch nor transformers.
"""
