"""Who may ask: this machine's browser, from the workbench's own pages, with the cookie that the
one-time token was exchanged for."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'self'; base-uri 'none'"
)
FOREIGN_POLICY = "sandbox allow-scripts allow-modals allow-downloads; frame-ancestors 'self'"
"""For stored pages with a policy of their own: they run apart from the workbench."""
_ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send forms with the Origin null
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FOREIGN = "Another page asked for this. The workbench answers its own pages only."
CLOSED = (
    "Open the address that shoal workbench printed when it started: its token lets one browser in, "
    "once. If it was used already, start the workbench again."
)
METHODS = ("GET", "HEAD", "POST")


@dataclass
class Keys:
    """The token that opens the workbench once, and what the browser's cookie holds afterwards."""

    port: int
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """Cookies know no ports: two workbenches must not overwrite each other's."""
        return f"shoal-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        return (f"127.0.0.1:{self.port}", f"localhost:{self.port}")

    def redeem(self, given: str) -> bool:
        """Whether this is the token; it is worthless from then on."""
        if self.token is None or not _same(given, self.token):
            return False
        self.token = None
        return True

    def opens(self, headers: Headers) -> bool:
        """Whether a request brings the cookie. Other programs on this machine set cookies for it
        too, of any form and even of this name: they do not matter."""
        pairs = (one.strip().partition("=") for one in headers.get("cookie", "").split(";"))
        return any(name == self.cookie and _same(value, self.session) for name, _, value in pairs)


class Guard:
    """Lets through what `Keys` open and no foreign page sent, and gives every answer its policy."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", POLICY)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._refusal(scope) or self._exchange(scope)
        if answer is None and not self._keys.opens(Headers(scope=scope)):
            answer = _refused(CLOSED)
        await (answer or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that no page of the workbench can have sent."""
        headers, method = Headers(scope=scope), scope["method"]
        if method not in METHODS:
            return _refused("This way of asking is not known here.", 405)
        host = headers.get("host", "")
        if host not in self._keys.hosts:
            return _refused("This address is not the workbench's own.", 421)
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return _refused(FOREIGN)
        site = headers.get("sec-fetch-site", "same-origin")
        if site != "same-origin" and not (site == "none" and method != "POST"):
            return _refused(FOREIGN)
        return None

    def _exchange(self, scope: Scope) -> Response | None:
        """The token turned into a cookie, at an address that no longer holds it."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if scope["path"] != "/" or not given or scope["method"] != "GET":
            return None
        if not self._keys.redeem(given[0]):
            return None if not self._keys.opens(Headers(scope=scope)) else _home()
        answer = _home()
        answer.set_cookie(
            self._keys.cookie, self._keys.session, httponly=True, samesite="strict", path="/"
        )
        return answer


def _home() -> Response:
    return RedirectResponse("/", 303)


def _refused(why: str, status: int = 403) -> Response:
    return PlainTextResponse(f"{why}\n", status)


def _same(given: str, kept: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), kept.encode("utf-8"))
