"""CUDA → HIP translation."""

from cass_pipeline.translate.cuda_to_hip import CudaToHip

__all__ = ["CudaToHip"]
