"""A server that speaks git's protocol (git://) as badly as a script tells it to."""

import socket
import threading

SILENCE_SECS = 0.05  # when the other side has said nothing for so long, it waits for an answer
LISTEN_BYTES = 1 << 20


def packet(data):
    """One packet of the protocol."""
    data = data.encode() if isinstance(data, str) else data
    return b"%04x" % (len(data) + 4) + data


FLUSH = b"0000"


def band(number, data):
    """A packet for one of the three bands: the pack, words for people, the end with an error."""
    data = data.encode() if isinstance(data, str) else data
    return packet(bytes([number]) + data)


def refs(lines, capabilities=""):
    """What a server of the old version says first: pairs of commit and name."""
    out = b""
    for number, (commit, name) in enumerate(lines):
        name = name.encode() if isinstance(name, str) else name
        out += packet(commit.encode() + b" " + name + (b"\0" + capabilities.encode() if number == 0 else b"") + b"\n")
    return out + FLUSH


class HostileServer:
    """Answers every connection with the same parts, one after the other; between them it listens until the other side is silent.
    A part may be a function: it is given the connection, and may talk for as long as somebody listens."""

    def __init__(self, parts):
        self.parts = parts
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"git://127.0.0.1:{self.listener.getsockname()[1]}/x"
        self.sent = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        connection.settimeout(SILENCE_SECS)
        with connection:
            try:
                for part in self.parts:
                    self._listen(connection)
                    connection.settimeout(None)
                    part(connection) if callable(part) else connection.sendall(part)
                    connection.settimeout(SILENCE_SECS)
            except OSError:  # the other side has had enough
                pass

    @staticmethod
    def _listen(connection):
        try:
            while connection.recv(LISTEN_BYTES):
                pass
        except TimeoutError:
            pass


def endless(data):
    """A part that never ends by itself."""
    def talk(connection):
        while True:
            connection.sendall(data)
    return talk
