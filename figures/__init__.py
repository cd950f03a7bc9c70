"""Records, predictions and the papers' numbers, as figures and tables.

Nothing here measures or predicts. Every module reads the JSON and CSV of the other wings (`lib/frame.py`), never
changes a number, and marks each one that a reader should not take at face value (`lib/marks.py`).
"""

__all__ = ["__version__"]
__version__ = "0.1.0"
