"""Joint n-grams of small alphabets, such as letters and sounds."""

from regard.ngrams.joint import JointNgrams

__all__ = ["JointNgrams"]
