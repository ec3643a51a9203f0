"""Modules of other libraries by name, with the sentence that says what to install."""

from __future__ import annotations

import importlib
from types import ModuleType

from gpu_ops.errors import LibraryMissing

PACKAGES = {
    "scipy": "scipy",
    "cv2": "opencv-python-headless",
    "pywt": "PyWavelets",
    "skimage": "scikit-image",
    "numba": "numba",
    "torch": "torch (Linux and Windows)",
    "cucim": "cucim-cu13, or cucim-cu12 beside cupy-cuda12x (Linux only)",
    "cuda": "cuda-cccl[cu13], or cuda-cccl[cu12] beside cupy-cuda12x",
    "cvcuda": "cvcuda-cu13, or cvcuda-cu12 beside cupy-cuda12x (Linux only)",
    "nvmath": "nvmath-python[cu13], or nvmath-python[cu12] beside cupy-cuda12x",
    "cupy": "cupy-cuda13x[ctk], or kernelscope[cuda13]",
    "cupti": "cupti-python, or kernelscope[trace] (Linux only)",
    "cupyx": "cupy-cuda13x[ctk], or kernelscope[cuda13]",
}


def import_library(name: str) -> ModuleType:
    """Import a module such as "scipy.ndimage". Raises LibraryMissing, which names the package to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = PACKAGES.get(name.split(".")[0], name.split(".")[0])
        raise LibraryMissing(f"{name} cannot be imported ({error}); install {package}.") from None
