"""HTTP as it is spoken here: also what is no request is answered by a problem document."""

from __future__ import annotations

import secrets

from uvicorn.protocols.http.h11_impl import H11Protocol

from services.api.problems import MEDIA, Problem


class Spoken(H11Protocol):
    """One connection."""

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read, unless an answer has begun, and hang up."""
        cycle = getattr(self, "cycle", None)  # none before the first request
        if cycle is None or cycle.response_complete:
            request_id = secrets.token_hex(8)
            problem = Problem(status=400, detail="this is no HTTP request that can be read", code="malformed")
            body = problem.body(request_id)
            told = {**problem.headers(), "content-type": MEDIA, "content-length": str(len(body)), "connection": "close"}
            lines = [f"{name}: {value}\r\n" for name, value in {**told, "x-request-id": request_id}.items()]
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{''.join(lines)}\r\n".encode() + body)
        self.transport.close()
