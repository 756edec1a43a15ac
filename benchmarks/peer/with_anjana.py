"""anjana: k-anonymity by hierarchies, where a twentieth of the rows may be left out.

python with_anjana.py TABLE.csv ASKED.json OUT.csv
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity

table, wanted, out = sys.argv[1:]
asked = json.loads(Path(wanted).read_text("utf-8"))
frame = pd.read_csv(table, dtype=dict.fromkeys(asked["qi"], str))
levels = {
    name: {level: np.array(values) for level, values in enumerate(columns)}
    for name, columns in asked["levels"].items()
}
k_anonymity(frame, [], asked["qi"], asked["k"], 5, levels).to_csv(out, index=False)
