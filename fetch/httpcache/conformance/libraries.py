"""Reads lines of {request, response, shared} and prints what hishel and CacheControl say of each:
may the response be reused without asking the origin. CacheControl is a private cache only; of
shared ones it says null. The argument is the time it is, in seconds since 1970."""
import json
import logging
import sys
import time
import types

time.time = lambda: float(sys.argv[1])

from cachecontrol.controller import CacheController
from hishel._core._headers import Headers, parse_cache_control
from hishel._core._spec import CacheMiss, CacheOptions, StoreAndUse, get_age, get_freshness_lifetime
from hishel._core.models import Request, Response

logging.disable(logging.CRITICAL)
URL = "http://a.example/"


def hishel(question):
    shared, methods = question["shared"], ["GET", "HEAD"]
    options = CacheOptions(shared=shared, supported_methods=methods, allow_stale=False)
    request = Request(method="GET", url=URL, headers=Headers(question["request"]["headers"]))
    answer = question["response"]
    response = Response(status_code=answer["status"], headers=Headers(answer["headers"]))
    if not isinstance(CacheMiss(request=request, options=options).next(response), StoreAndUse):
        return False
    if parse_cache_control(response.headers.get("cache-control")).no_cache:
        return False
    return (get_freshness_lifetime(response, shared) or 0) > get_age(response)


class Keep:
    """The serializer of a controller that keeps objects as they are."""

    def dumps(self, request, response, body):
        return response

    def loads(self, request, data, body_file=None):
        return data


def cachecontrol(question):
    if question["shared"]:
        return None
    c = CacheController(serializer=Keep())
    request = types.SimpleNamespace(url=URL, headers=question["request"]["headers"])
    response = types.SimpleNamespace(**question["response"])
    c.cache_response(request, response, b"")
    return bool(c.cached_request(types.SimpleNamespace(url=URL, headers={})))


for line in sys.stdin:
    q = json.loads(line)
    print(json.dumps({"hishel": hishel(q), "cachecontrol": cachecontrol(q)}))
