# Verifies the tokens of standard input and signs one for each key. A token is {alg, token, public, private}, keys in PEM, a secret of
# HS in base64; the answer is {alg, token}.
import base64
import json
import sys
import time

import jwt

out = []
for t in json.load(sys.stdin):
    public, private = t["public"], t["private"]
    if t["alg"].startswith("HS"):
        public = private = base64.b64decode(public)
    claims = jwt.decode(t["token"], public, algorithms=[t["alg"]], issuer="quire", audience="peers", options={"require": ["exp", "iat", "sub"]})
    assert claims["sub"] == "ada" and claims["roles"] == ["till"], claims
    now = int(time.time())
    token = jwt.encode({"sub": "grace", "iss": "peer", "aud": ["quire"], "iat": now, "exp": now + 600, "roles": ["desk"]}, private, algorithm=t["alg"])
    out.append({"alg": t["alg"], "token": token})
print(json.dumps(out))
