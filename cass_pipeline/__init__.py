"""Verified CUDA/HIP and SASS/RDNA3 code pairs: collection, translation, compilation, comparison."""

__version__ = "0.1.0"
