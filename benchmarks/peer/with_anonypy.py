"""anonypy: Mondrian, k-anonymous.

python with_anonypy.py TABLE.csv ASKED.json OUT.csv
"""

import json
import sys
from pathlib import Path

import anonypy
import pandas as pd

table, wanted, out = sys.argv[1:]
asked = json.loads(Path(wanted).read_text("utf-8"))
frame = pd.read_csv(table)
for name in asked["qi"]:
    if name not in asked["numbers"]:
        frame[name] = frame[name].astype("category")
made = anonypy.Preserver(frame, asked["qi"], asked["sensitive"])
pd.DataFrame(made.anonymize_k_anonymity(k=asked["k"])).to_csv(out, index=False)
