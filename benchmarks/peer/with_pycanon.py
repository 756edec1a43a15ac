"""pyCANON: how many people have one combination at least, and how many values one class.

python with_pycanon.py TABLE.csv ASKED.json OUT.csv
"""

import json
import sys
from pathlib import Path

import pandas as pd
from pycanon import anonymity

table, wanted, out = sys.argv[1:]
asked = json.loads(Path(wanted).read_text("utf-8"))
frame = pd.read_csv(table)
k = anonymity.k_anonymity(frame, asked["qi"])
l = anonymity.l_diversity(frame, asked["qi"], [asked["sensitive"]])
pd.DataFrame({"k": [k], "l": [l]}).to_csv(out, index=False)
