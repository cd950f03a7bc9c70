"""The library of all drawings: records as frames, marks, cells, tables, styles, and facts about each protocol."""
