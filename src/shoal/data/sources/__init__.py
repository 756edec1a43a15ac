"""Tables in and out: files, folders and databases are read, files are written whole.

`read_table` takes CSV, Parquet, Arrow, Excel, a folder of Parquet files, DuckDB and PostgreSQL,
and turns everything that can be wrong with them into one InputError. `write_table`, `write_parts`
and `part_writer` never leave anything half written under the name asked for (`shoal.data.storage`).
"""

from shoal.data.sources.read import read_codebook as read_codebook
from shoal.data.sources.read import read_table as read_table
from shoal.data.sources.write import part_writer as part_writer
from shoal.data.sources.write import write_parts as write_parts
from shoal.data.sources.write import write_table as write_table
