"""Tables in and out: files, folders and databases are read, files and folders are replaced whole.

`read_table` takes CSV, Parquet, Arrow, Excel, a folder of Parquet files, DuckDB and PostgreSQL,
and turns everything that can be wrong with them into one InputError. `write_table`, `write_parts`,
`part_writer`, `replace_file`, `replace_folder` and `replace_folders` never leave anything half
written under the name asked for.
"""

from __future__ import annotations

from shoal.sources.location import redact
from shoal.sources.moves import recover_folder
from shoal.sources.read import read_table
from shoal.sources.replace import (
    Place,
    refuse_overlap,
    replace_file,
    replace_folder,
    replace_folders,
)
from shoal.sources.write import part_writer, write_parts, write_table

__all__ = [
    "Place",
    "part_writer",
    "read_table",
    "recover_folder",
    "redact",
    "refuse_overlap",
    "replace_file",
    "replace_folder",
    "replace_folders",
    "write_parts",
    "write_table",
]
