"""One sentence for each published column, as the dataset card prints it."""

from __future__ import annotations

PAIR_COLUMNS: dict[str, str] = {
    "pair_id": "Identity of the pair: a hash of its two sides and how they were made.",
    "unit_id": "Hash of the CUDA files, wherever they were found.",
    "domain": "What the code is about, guessed from its words (a heuristic).",
    "source": "Kind of source: `local`, `repository`, `sdist` and so on.",
    "source_name": "Folder, repository or package that the CUDA files come from.",
    "source_revision": "Commit or version; empty for a plain folder.",
    "source_path": "Path of the CUDA main file inside its source.",
    "licence": "SPDX licence expression of the CUDA files, and so of the HIP files.",
    "licence_evidence": "What the licence was read from.",
    "cuda_source": "Text of the CUDA main file, as it was found.",
    "hip_source": "Text of the HIP main file.",
    "cuda_files": "The CUDA main file and the local headers it includes.",
    "cuda_main_path": "Which of `cuda_files` is compiled.",
    "hip_files": "The same files in HIP.",
    "hip_main_path": "Which of `hip_files` is compiled.",
    "include_dirs": "Directories among the files that the compilers search for headers.",
    "sass": "NVIDIA device assembly, a normalised listing for each target.",
    "rdna3": "AMD device assembly, a normalised listing for each target.",
    "ptx": "PTX of the same NVIDIA compilation.",
    "cuda_host_asm": "Host assembly of the CUDA side.",
    "hip_host_asm": "Host assembly of the HIP side.",
    "cuda_kernels": "Kernels of the CUDA side: names, registers, memory, static instructions.",
    "kernels": "Kernels that both sides have, by their mangled names.",
    "hip_kernels": "Kernels of the HIP side: names, registers, memory, static instructions.",
    "translator": "Fingerprint of what translated CUDA to HIP.",
    "findings": "What the translator changed or doubted, by line of the CUDA input.",
    "cuda_toolchain": "Fingerprint of the NVIDIA toolchain.",
    "hip_toolchain": "Fingerprint of the AMD toolchain.",
    "cuda_flags": "Flags of the NVIDIA compiler.",
    "hip_flags": "Flags of the AMD compiler.",
    "optimisation": "Optimisation level, the same on both sides.",
    "verification": (
        "How far the pair was verified: level, devices, seeds, inputs, tolerance, largest absolute "
        "and relative error, dynamic instruction counts, and whether repeated runs agreed."
    ),
    "code_tokens": "Tokens of the CUDA and the HIP code together.",
    "cluster_id": "Cluster of near-duplicates: split training and test data by it.",
}
"""Unit-level pairs."""

KERNEL_COLUMNS: dict[str, str] = {
    "pair_id": "The pair that the kernel belongs to.",
    "unit_id": "Hash of the pair's CUDA files.",
    "kernel": "Mangled name on the CUDA side.",
    "hip_kernel": "Mangled name on the HIP side: it differs where header types do.",
    "demangled": "Readable name.",
    "sm_arch": "NVIDIA target.",
    "gfx_arch": "AMD target.",
    "sass": "NVIDIA assembly of the kernel.",
    "rdna3": "AMD assembly of the kernel.",
    "cuda_resources": "Registers, memory and static instruction count on the NVIDIA target.",
    "hip_resources": "Registers, memory and static instruction count on the AMD target.",
    "licence": "SPDX licence expression of the pair.",
    "verification_level": "How far the pair was verified.",
    "cluster_id": "The pair's cluster of near-duplicates.",
}
"""Kernels, one row for each pair of targets."""
