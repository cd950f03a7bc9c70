"""What all drawings share: records as frames, marks, cells, tables, styles, and what is known of each protocol."""
