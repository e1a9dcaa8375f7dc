"""Why a TLS connection does not come up, as a sentence with its remedy; and whether its files can be used."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from services import plain_file
from services.domain.errors import UsageError
from services.domain.text.said import Said, said


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What an address calls the options, and how it begins with and without TLS."""

    ca: str
    cert: str
    key: str
    plain: str
    secure: str
    name: str = ""  #: the option that names another host than the address, "" for none


REDIS = Words(ca="ssl_ca_certs", cert="ssl_certfile", key="ssl_keyfile", plain="redis://", secure="rediss://")
AMQP = Words(
    ca="cacertfile",
    cert="certfile",
    key="keyfile",
    plain="amqp://",
    secure="amqps://",
    name="server_name_indication",
)
#: of a management interface, which is called by its address
HTTP = replace(AMQP, plain="http://", secure="https://", name="")
PULSAR = replace(AMQP, plain="pulsar://", secure="pulsar+ssl://", name="")
#: of a file of certificates; those of all authorities of a system have a quarter of a megabyte
_MOST_BYTES = 16 * 1024 * 1024
#: numbers of OpenSSL's verification: another name or address; not valid yet, not any more
_OF_NAMES, _OF_TIME = frozenset({62, 63, 64}), frozenset({9, 10, 11, 12})
#: what Python 3.13 asks of an authority and versions before did not
_STRICT = re.compile(r"key usage|key identifier|basic constraints|invalid ca|pathlen", re.IGNORECASE)
#: the server refused this side's certificate, or that there is none
_CLIENT = re.compile(
    r"ALERT_CERTIFICATE_REQUIRED|ALERT_BAD_CERTIFICATE|ALERT_UNKNOWN_CA|ALERT_HANDSHAKE_FAILURE|ALERT_CERTIFICATE_|"
    r"ALERT_UNSUPPORTED_CERTIFICATE|ALERT_ACCESS_DENIED|ALERT_NO_CERTIFICATE|ALERT_DECRYPT_ERROR",
    re.IGNORECASE,
)
_NO_TLS = re.compile(
    r"WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE|UNKNOWN_PROTOCOL|UNEXPECTED_MESSAGE"
)
_VERSIONS = re.compile(
    r"UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|ALERT_PROTOCOL_VERSION|NO_SHARED_CIPHER|INAPPROPRIATE_FALLBACK"
)
_OF_TLS = re.compile(r"\[SSL|EOF occurred in violation|SSLError|SSLEOF|_ssl\.c", re.IGNORECASE)
#: how clients of both servers tell of an end without a reason
_CUT = re.compile(r"ConnectionReset|ConnectionAborted|BrokenPipe|SSLEOF|EOF occurred in|indicated EOF|closed by server")
_LISTEN_S = 2.0
#: of a locked key, which OpenSSL would ask for on the terminal, where nobody sits
_NO_PASSWORD = "-"


def sentence(errors: Iterable[BaseException], place: str, options: Mapping[str, str], words: Words) -> Said | None:
    """What to do about an error of TLS, None where it is none. ``errors``: it and all that it was made from."""
    found = list(errors)
    for error in found:
        if isinstance(error, ssl.SSLCertVerificationError):
            return _of_certificate(error, place, options, words)
    text = " ".join(f"{type(error).__name__} {getattr(error, 'reason', '') or ''} {error}" for error in found)
    if not _OF_TLS.search(text):
        return None
    why = _why(text)
    if _CLIENT.search(text):
        return said("tls.client", place=place, why=why, cert=words.cert, key=words.key)
    if _NO_TLS.search(text):
        return said("tls.plain", place=place, why=why, plain=words.plain, secure=words.secure)
    if _VERSIONS.search(text):
        return said("tls.versions", place=place, why=why)
    ways = {"plain": words.plain, "secure": words.secure, "cert": words.cert, "key": words.key}
    return said("tls.broken", place=place, why=why, **ways)


def heard(
    errors: Iterable[BaseException],
    host: str,
    port: int,
    options: Mapping[str, str],
    words: Words,
    *,
    insecure: bool = False,
) -> ssl.SSLError | None:
    """Why a server ended a connection, where ``errors`` do not tell; None where they do, or it says nothing now either.

    From TLS 1.3 on a certificate of this side is refused after its hands are shaken. Whoever has begun to speak by then
    may find the connection reset in place of the reason, so it is asked for once more by one who only listens.
    """
    if not any(_CUT.search(f"{type(error).__name__} {error}") for error in errors):
        return None
    try:
        with (
            socket.create_connection((host, port), _LISTEN_S) as stream,
            context(options, words, insecure=insecure).wrap_socket(
                stream, server_hostname=options.get(words.name) or host
            ) as wrapped,
        ):
            wrapped.recv(1)
    except ssl.SSLError as exc:
        return exc
    except (OSError, ValueError):
        pass
    return None


def context(options: Mapping[str, str], words: Words, *, insecure: bool = False) -> ssl.SSLContext:
    """How a server is spoken to; ``insecure``: whoever it is.

    Raises:
        OSError: a file of the options cannot be used.
    """
    made = ssl.create_default_context(cafile=options.get(words.ca))
    if words.cert in options:
        made.load_cert_chain(options[words.cert], options.get(words.key), password=_NO_PASSWORD)
    if insecure:
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    return made


def check_files(options: Mapping[str, str], words: Words, field: str) -> None:
    """Refuse files that cannot be used, before a server is asked.

    Raises:
        UsageError: the sentence names the option and the file.
    """
    for option in (words.ca, words.cert, words.key):
        if options.get(option):
            _check_readable(option, options[option], field)
    if options.get(words.key) and not options.get(words.cert):
        raise UsageError(said("tls.cert_missing", cert=words.cert, key=words.key), field=field)
    if options.get(words.ca):
        _check_authority(words.ca, options[words.ca], field)
    if options.get(words.cert):
        _check_pair(options, words, field)


def _of_certificate(error: ssl.SSLCertVerificationError, place: str, options: Mapping[str, str], words: Words) -> Said:
    why = str(error.verify_message).strip().rstrip(".")
    if error.verify_code in _OF_NAMES:
        return said("tls.name_given" if words.name else "tls.name", place=place, why=why, option=words.name)
    if error.verify_code in _OF_TIME:
        return said("tls.expired", place=place, why=why)
    if _STRICT.search(why):
        return said("tls.strict", place=place, why=why)
    if options.get(words.ca):
        return said("tls.other", place=place, why=why, file=options[words.ca], ca=words.ca)
    return said("tls.unknown", place=place, why=why, ca=words.ca)


def _why(text: str) -> str:
    found = re.search(r"\[SSL: ?([A-Z0-9_]+)\]", text) or re.search(r"\b([A-Z0-9]+(?:_[A-Z0-9]+)+)\b", text)
    return found[1].replace("_", " ").lower() if found else said("tls.hung_up")


def _check_readable(option: str, file: str, field: str) -> None:
    try:
        if len(plain_file.read(file, _MOST_BYTES)) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES} bytes")
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", None) or str(exc)
        raise UsageError(said("tls.file", option=option, file=file, why=why), field=field) from exc


def _check_authority(option: str, file: str, field: str) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except (OSError, ValueError) as exc:
        raise UsageError(said("tls.no_authority", option=option, file=file), field=field) from exc


def _check_pair(options: Mapping[str, str], words: Words, field: str) -> None:
    cert, key = options[words.cert], options.get(words.key) or None
    locked = False

    def password() -> str:
        nonlocal locked
        locked = True
        return _NO_PASSWORD

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(cert, key, password=password)
    except (OSError, ValueError) as exc:
        if locked:
            raise UsageError(said("tls.locked", option=words.key, file=key or cert), field=field) from exc
        if getattr(exc, "reason", "") == "KEY_VALUES_MISMATCH":
            raise UsageError(said("tls.no_pair", cert=cert, key=key or cert), field=field) from exc
        raise UsageError(said("tls.no_key", cert=words.cert, key=words.key, file=key or cert), field=field) from exc
