"""Where things lie: addresses are taken apart, files and folders are replaced whole.

`replace_file`, `replace_folder` and `replace_folders` never leave anything half written under the
name asked for; `recover_folder` ends what a power cut left in between. Nothing here knows what a
table is, so that it costs nothing to import.
"""

from shoal.data.storage.location import redact as redact
from shoal.data.storage.moves import recover_folder as recover_folder
from shoal.data.storage.replace import Place as Place
from shoal.data.storage.replace import refuse_overlap as refuse_overlap
from shoal.data.storage.replace import replace_file as replace_file
from shoal.data.storage.replace import replace_folder as replace_folder
from shoal.data.storage.replace import replace_folders as replace_folders
