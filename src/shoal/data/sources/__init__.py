"""Tables in and out: files, folders and databases are read, files are written whole.

`read_table` takes CSV, Parquet, Arrow, Excel, a folder of Parquet files, DuckDB and PostgreSQL,
and turns everything that can be wrong with them into one InputError. `write_table`, `write_parts`
and `part_writer` never leave anything half written under the name asked for (`shoal.data.storage`).
"""

from __future__ import annotations

from shoal.data.sources.read import read_table
from shoal.data.sources.write import part_writer, write_parts, write_table

__all__ = [
    "part_writer",
    "read_table",
    "write_parts",
    "write_table",
]
