"""Hand-written support for the chapters: argument checks, figures with alt text, figures from papers, benchmark records."""

from paramshare._support.checks import check_divides, check_positive
from paramshare._support.figures import drawing, show, use_style
from paramshare._support.memory import check_countable, memory_of, overlapping
from paramshare._support.records import machine, record, write_record
from paramshare._support.tables import paper_table

__all__ = [
    "check_countable",
    "check_divides",
    "check_positive",
    "drawing",
    "machine",
    "memory_of",
    "overlapping",
    "paper_table",
    "record",
    "show",
    "use_style",
    "write_record",
]
