"""Web servers of a folder: plain, encrypted, and as much of S3 as reading takes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Pages(SimpleHTTPRequestHandler):
    """Files; what ends early, and what leads elsewhere."""

    def log_message(self, *said: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/early.csv":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"a,b\n1,2\n")
        elif self.path == "/away.csv":
            self.send_response(302)
            self.send_header("Location", "http://elsewhere.example/a.csv")
            self.end_headers()
        else:
            super().do_GET()


class Store(Pages):
    """A bucket is a folder. Whoever does not sign a request with a key is sent away."""

    told: Mapping[str, str] = {}

    def known(self, asked: Mapping[str, list[str]]) -> bool:
        return "Credential=AKIDTEST/" in self.headers.get("Authorization", "")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        file, asked = Path(self.translate_path(self.path)), parse_qs(urlsplit(self.path).query)
        data, status, more = b"", 200, {}
        if not self.known(asked):
            status = 403
        elif "list-type" in asked:
            data = _listed(file, asked.get("prefix", [""])[0])
        elif not file.is_file():
            status = 404
        else:
            data = file.read_bytes()
            if span := self.headers.get("Range") or self.headers.get("x-ms-range"):
                first, last = span.removeprefix("bytes=").split("-")
                more = {"Content-Range": f"bytes {first}-{last}/{len(data)}"}
                data, status = data[int(first) : int(last) + 1], 206
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **self.told, **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


class Blobs(Store):
    """An account is a folder of containers, for whoever has its key or a token."""

    told: Mapping[str, str] = {
        "ETag": '"1"',
        "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
        "x-ms-creation-time": "Thu, 01 Jan 2026 00:00:00 GMT",
        "x-ms-blob-type": "BlockBlob",
        "x-ms-server-encrypted": "true",
    }

    def known(self, asked: Mapping[str, list[str]]) -> bool:
        signed = self.headers.get("Authorization", "").startswith("SharedKey acct:")
        login = self.headers.get("Authorization") == "Bearer TOKEN"
        return signed or login or asked.get("sig") == ["SIGNED"]


def _listed(bucket: Path, prefix: str) -> bytes:
    names = sorted(str(one.relative_to(bucket)) for one in bucket.rglob("*") if one.is_file())
    found = "".join(
        f"<Contents><Key>{name}</Key><Size>1</Size>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
        for name in names
        if name.startswith(unquote(prefix))
    )
    text = f"<IsTruncated>false</IsTruncated><KeyCount>{len(names)}</KeyCount>{found}"
    space = "http://s3.amazonaws.com/doc/2006-03-01/"
    return (
        f'<?xml version="1.0"?><ListBucketResult xmlns="{space}">{text}</ListBucketResult>'.encode()
    )


@contextmanager
def served(
    folder: Path, how: type[Pages] = Pages, *, secret: SSLContext | None = None
) -> Iterator[str]:
    """The address of a server of the folder, encrypted by a `secret` if there is one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(how, directory=str(folder)))
    if secret is not None:
        server.socket = secret.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' if secret else ''}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def certified(folder: Path) -> tuple[SSLContext, Path]:
    """What a server of this machine is encrypted by, and the certificate to trust it by."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    made = builder.add_extension(here, critical=False).sign(key, SHA256())
    public = made.public_bytes(Encoding.PEM)
    (folder / "public.pem").write_bytes(public)
    whole = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + public
    (folder / "secret.pem").write_bytes(whole)
    secret = SSLContext(PROTOCOL_TLS_SERVER)
    secret.load_cert_chain(folder / "secret.pem")
    return secret, folder / "public.pem"
