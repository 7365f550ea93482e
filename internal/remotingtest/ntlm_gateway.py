"""A gateway that demands NTLM of its clients, by pyspnego, and hands what they send to a service behind it. Over plain HTTP
both ways are sealed; over TLS the authentication must be bound to the channel. FAULT alters what the clients get."""

import base64, hashlib, http.client, http.server, os, re, ssl, struct, sys, tempfile

import spnego
from spnego.channel_bindings import GssChannelBindings

upstream, user, password = sys.argv[1:4]
cert, key = (sys.argv[4:6] + [None, None])[:2]
fault = os.environ.get("FAULT", "")
accounts = tempfile.NamedTemporaryFile("w", delete=False)
accounts.write("DOMAIN:%s:%s\n" % (user, password))
accounts.close()
os.environ["NTLM_USER_FILE"] = accounts.name
PROTOCOL = b"application/HTTP-SPNEGO-session-encrypted"
binding = None
if cert:
    der = ssl.PEM_cert_to_DER_cert(open(cert).read())
    if fault == "other channel":
        der += b"x"
    binding = GssChannelBindings(application_data=b"tls-server-end-point:" + hashlib.sha256(der).digest())


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    context = None
    last = None

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", kind=None, challenge=None):
        self.send_response(status)
        if challenge is not None:
            self.send_header("WWW-Authenticate", challenge)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        if scheme == "Negotiate":
            token = base64.b64decode(token)
            try:
                if token[8:12] == b"\x01\0\0\0":
                    self.context = spnego.server(protocol="ntlm", channel_bindings=binding)
                out = self.context.step(token)
            except Exception as e:
                print("refused: %s" % e, file=sys.stderr, flush=True)
                self.context = None
                return self.reply(401, challenge="Negotiate")
            if not self.context.complete:
                if fault == "weak":
                    out = out[:20] + struct.pack("<I", struct.unpack("<I", out[20:24])[0] & ~0x20000000) + out[24:]
                return self.reply(401, challenge="Negotiate " + base64.b64encode(out).decode())
            return self.reply(200)
        if self.context is None or not self.context.complete:
            return self.reply(401, challenge="Negotiate")
        if not cert:
            match = re.fullmatch(
                rb"--Encrypted Boundary\r\n\tContent-Type: " + PROTOCOL + rb"\r\n\tOriginalContent: type=application/soap\+xml;charset=UTF-8;Length=(\d+)\r\n"
                rb"--Encrypted Boundary\r\n\tContent-Type: application/octet-stream\r\n(.*)--Encrypted Boundary--\r\n", body, re.S)
            if not match or b"multipart/encrypted" not in self.headers["Content-Type"].encode():
                return self.reply(400)
            n = struct.unpack("<I", match[2][:4])[0]
            body = self.context.unwrap_winrm(match[2][4:4 + n], match[2][4 + n:])
            if len(body) != int(match[1]):
                return self.reply(400)
        conn = http.client.HTTPConnection(upstream)
        conn.request("POST", self.path, body, {"Content-Type": "application/soap+xml;charset=UTF-8"})
        answer = conn.getresponse()
        status, kind, data = answer.status, answer.headers["Content-Type"], answer.read()
        conn.close()
        if cert or fault == "plain":
            return self.reply(status, data, kind)
        header, sealed, padding = self.context.wrap_winrm(data)
        part = struct.pack("<I", len(header)) + header + sealed
        if fault == "flip":
            part = part[:-1] + bytes([part[-1] ^ 1])
        if fault == "repeat" and self.last:
            part, data = self.last
        self.last = part, data
        dashes = b"-- " if fault == "space" else b"--"
        self.reply(status, dashes + b"Encrypted Boundary\r\n\tContent-Type: " + PROTOCOL + b"\r\n\tOriginalContent: type=application/soap+xml;charset=UTF-8;Length=%d\r\n" % (len(data) + padding)
                   + dashes + b"Encrypted Boundary\r\n\tContent-Type: application/octet-stream\r\n" + part + dashes + b"Encrypted Boundary--\r\n",
                   'multipart/encrypted;protocol="%s";boundary="Encrypted Boundary"' % PROTOCOL.decode())


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


server = Server(("127.0.0.1", 0), Gateway)
if cert:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(cert, key)
    server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
