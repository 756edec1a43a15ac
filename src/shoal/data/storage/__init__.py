"""Where things lie: addresses are taken apart, files and folders are replaced whole.

`replace_file`, `replace_folder` and `replace_folders` never leave anything half written under the
name asked for; `recover_folder` ends what a power cut left in between. Nothing here knows what a
table is, so that it costs nothing to import.
"""

from __future__ import annotations

from shoal.data.storage.location import redact
from shoal.data.storage.moves import recover_folder
from shoal.data.storage.replace import (
    Place,
    refuse_overlap,
    replace_file,
    replace_folder,
    replace_folders,
)

__all__ = [
    "Place",
    "recover_folder",
    "redact",
    "refuse_overlap",
    "replace_file",
    "replace_folder",
    "replace_folders",
]
