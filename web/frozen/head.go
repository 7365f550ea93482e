package frozen

import "bytes"

// verdict says what becomes of a request head.
type verdict int

const (
	partial verdict = iota // the head is not whole yet
	serve                  // a request that an entry may answer
	pass                   // a message of known length for net/http
	opaque                 // bytes that net/http alone judges, from here on
)

// requestHead is what the lane needs of a head. Its slices are parts of the
// buffer.
type requestHead struct {
	length    int // of the head with its empty line
	body      int64
	isHead    bool
	close     bool // Connection: close
	secret    bool // Authorization or Cookie
	foreign   bool // a browser says that another site's page asks
	method    []byte
	target    []byte
	host      []byte
	encodings []byte // Accept-Encoding; nil without
	match     []byte // If-None-Match
	since     []byte // If-Modified-Since
}

// parse reads the head at the start of b. It takes only what admits one reading:
// everything else is opaque, so that net/http answers it as it would without the
// lane and no byte of it is interpreted twice.
func (h *requestHead) parse(b []byte, allowed map[string]bool) verdict {
	*h = requestHead{}
	line, rest, ok := cutLine(b)
	if !ok {
		if odd(b) {
			return opaque
		}
		return partial
	}
	if !h.requestLine(line) {
		return opaque
	}
	out := serve
	if string(h.method) != "GET" && !h.isHead || h.target[0] != '/' {
		out = pass
	}
	seen := seenFields{}
	for {
		line, after, ok := cutLine(rest)
		if !ok {
			if odd(rest) {
				return opaque
			}
			return partial
		}
		rest = after
		if len(line) == 0 {
			break
		}
		switch h.field(line, &seen, allowed) {
		case opaque:
			return opaque
		case pass:
			out = pass
		}
	}
	if !seen.host {
		return opaque
	}
	h.length = len(b) - len(rest)
	return out
}

// cutLine cuts at the first CR LF. ok is false when there is none.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' {
		return nil, nil, false
	}
	return b[:i-1], b[i+1:], true
}

// odd reports whether bytes without CR LF can no longer begin a head: a bare LF.
func odd(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// requestLine reads method, target and HTTP/1.1.
func (h *requestHead) requestLine(line []byte) bool {
	i := bytes.IndexByte(line, ' ')
	j := bytes.LastIndexByte(line, ' ')
	if i < 1 || j <= i+1 || string(line[j+1:]) != "HTTP/1.1" {
		return false
	}
	h.method, h.target = line[:i], line[i+1:j]
	for _, c := range h.method {
		if !tokenChars[c] {
			return false
		}
	}
	for _, c := range h.target {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	h.isHead = string(h.method) == "HEAD"
	return string(h.method) != "CONNECT"
}

// seenFields are those that may stand once.
type seenFields struct{ host, length, encodings, match, since bool }

func once(seen *bool) bool {
	was := *seen
	*seen = true
	return !was
}

// field reads one field line and says what it means for the request: serve when
// it may stay what it was.
func (h *requestHead) field(line []byte, seen *seenFields, allowed map[string]bool) verdict {
	colon := bytes.IndexByte(line, ':')
	if colon < 1 { // a folded line begins with space, which is no token either
		return opaque
	}
	var lower [32]byte
	name := line[:colon]
	long := len(name) > len(lower)
	for i, c := range name {
		if !tokenChars[c] {
			return opaque
		}
		if !long {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			lower[i] = c
		}
	}
	value := bytes.Trim(line[colon+1:], " \t")
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return opaque
		}
	}
	if long {
		return pass
	}
	switch string(lower[:len(name)]) {
	case "host":
		if !once(&seen.host) {
			return opaque
		}
		h.host = value
		for _, c := range value {
			if !hostChars[c] {
				return pass
			}
		}
		if len(value) == 0 {
			return pass
		}
		return serve
	case "content-length":
		if !once(&seen.length) || !h.contentLength(value) {
			return opaque
		}
		return pass
	case "transfer-encoding", "expect", "upgrade", "http2-settings", "trailer":
		return opaque
	case "connection":
		switch {
		case equalFold(value, "close"):
			h.close = true
			return serve
		case equalFold(value, "keep-alive"):
			return serve
		}
		return opaque
	case "authorization", "cookie":
		h.secret = true
		return serve
	case "sec-fetch-site":
		if string(value) != "same-origin" && string(value) != "none" {
			h.foreign = true
		}
		return serve
	case "accept-encoding":
		if !once(&seen.encodings) {
			return pass
		}
		h.encodings = value
		if h.encodings == nil { // an empty field is not an absent one
			h.encodings = line[:0]
		}
		return serve
	case "if-none-match":
		if !once(&seen.match) {
			return pass
		}
		h.match = value
		return serve
	case "if-modified-since":
		if !once(&seen.since) {
			return pass
		}
		h.since = value
		return serve
	case "user-agent", "accept", "accept-language", "accept-charset", "cache-control", "pragma", "referer", "priority", "traceparent", "tracestate",
		"x-request-id", "forwarded", "via", "dnt", "upgrade-insecure-requests":
		return serve
	}
	switch n := lower[:len(name)]; {
	case bytes.HasPrefix(n, []byte("sec-")), bytes.HasPrefix(n, []byte("x-forwarded-")), allowed[string(n)]:
		return serve
	}
	return pass // Range and Origin among them
}

// contentLength reads digits, of which no body of ours has more than 15.
func (h *requestHead) contentLength(value []byte) bool {
	if len(value) == 0 || len(value) > 15 {
		return false
	}
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
		h.body = h.body*10 + int64(c-'0')
	}
	return true
}

func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// charSet marks bytes.
func charSet(extra string) (set [256]bool) {
	for c := range 256 {
		set[c] = c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80
	}
	for _, c := range []byte(extra) {
		set[c] = true
	}
	return set
}

var (
	tokenChars = charSet("!#$%&'*+-.^_`|~")
	hostChars  = charSet(".-_:[]")
)
