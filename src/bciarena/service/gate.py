"""How many requests are at work at once. The others wait where waiting costs neither a thread nor a connection.

A request at work holds a connection to the database and, now and then, one of the server's threads. Without a bound,
as many requests as there are threads could each wait for a connection that another one holds, which cannot go on for
want of a thread. So a request first brings its whole body, then waits for its turn, and its turn ends when its answer
begins: neither a slow sender nor a slow reader keeps others waiting. Uploads are too large to be kept in memory and are
counted apart.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable

from fastapi import Request, Response

from bciarena.service.middleware import App, Message, Receive, Scope, Send, TooLarge
from bciarena.service.refusals import Refused
from bciarena.service.site import address_of

AT_ONCE = 24  # of the server's 40 threads
WAITING = 1000
UPLOADS, UPLOADS_EACH = 40, 3  # in all, and from one address: one that is being sent costs a temporary file alone
BODY_S = 60.0  # to bring a form
UPLOAD_S = 1800.0


class Gate:
    """Lets requests through as described above.

    ``uploads`` matches the paths whose bodies are streamed; ``refuse`` makes the answer to one that is turned away.
    """

    def __init__(self, app: App, uploads: str, refuse: Callable[[Request, Exception], Response]) -> None:
        self.app, self.refuse = app, refuse
        self.uploads = re.compile(uploads)
        self.turns = asyncio.Semaphore(AT_ONCE)
        self.waiting = 0
        self.sending: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] in ("POST", "PUT") and self.uploads.fullmatch(scope["path"]):
            await self._upload(scope, receive, send)
        else:
            await self._turn(scope, receive, send)

    async def _refuse(self, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.refuse(Request(scope), error)
        answer.headers["connection"] = "close"  # the rest of the body is not read
        await answer(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        who = address_of(Request(scope))
        if self.sending.total() >= UPLOADS or self.sending[who] >= UPLOADS_EACH:
            return await self._refuse(Refused(503, "refused.uploads"), scope, receive, send)
        until_s = asyncio.get_running_loop().time() + UPLOAD_S

        async def bounded() -> Message:
            try:
                async with asyncio.timeout_at(until_s):
                    return await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}

        self.sending[who] += 1
        try:
            await self.app(scope, bounded, send)
        finally:
            self.sending[who] -= 1
            self.sending += Counter()  # forgets those at zero

    async def _turn(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.waiting >= WAITING:
            return await self._refuse(Refused(503, "refused.busy"), scope, receive, send)
        self.waiting += 1
        try:
            body = await self._body(receive)
            if body is None:
                return
            await self.turns.acquire()
        except TooLarge as error:
            return await self._refuse(error, scope, receive, send)
        except TimeoutError:
            return await self._refuse(Refused(408, "refused.slow"), scope, receive, send)
        finally:
            self.waiting -= 1
        await self._at_work(body, scope, receive, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """The whole body, which `BodyLimit` bounds; None if the client has left."""
        parts = []
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    return b"".join(parts)

    async def _at_work(self, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        first, over = True, False

        async def again() -> Message:
            nonlocal first
            if first:
                first = False
                return {"type": "http.request", "body": body, "more_body": False}
            return await receive()

        async def answered(message: Message) -> None:
            nonlocal over
            if not over:
                over = True
                self.turns.release()
            await send(message)

        try:
            await self.app(scope, again, answered)
        finally:
            if not over:
                self.turns.release()
