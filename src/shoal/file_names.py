"""Names of files that rooms agree on, for whoever must not import those who write them."""

from __future__ import annotations

CERTIFICATE = "certificate.json"
SIGNATURES = "signatures.json"
