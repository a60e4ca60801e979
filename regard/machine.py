"""What the machine is told before work begins, and what it is asked."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache

# The numbers of glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8


def keep_memory() -> None:
    """Let the process keep the memory that it frees, where the C library can be told so.

    Tensors of megabytes come and go at every step. glibc gives such blocks back to the kernel,
    which clears their pages before it hands them out again: a quarter of the time of a beam.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL("libc.so.6").mallopt
        # An older glibc takes no more than 32 MiB; where it takes neither, the rest would do harm.
        if not any(mallopt(_MMAP_THRESHOLD, size * 2**20) for size in (128, 32)):
            return
        mallopt(_TRIM_THRESHOLD, 1024 * 2**20)
        mallopt(_TOP_PAD, 64 * 2**20)
        mallopt(_ARENA_MAX, 1)  # other arenas are small, and would give large blocks back


@cache
def knows_16_bits() -> bool:
    """Whether oneDNN has kernels of 16 bits (bfloat16) for this processor; it wants AVX-512."""
    import torch  # not before it is needed: the command line says --help without it

    if not torch.backends.mkldnn.is_available():
        return True  # nor is there a kernel that would refuse them
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())  # type: ignore[no-untyped-call]
