package fetch

import (
	"net/http"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// setKey gives the attempt the call's idempotency key: the same one on every attempt and on
// redirects that repeat the request at its own origin (307, 308). A key that the request carries
// already is left alone; a hop to another origin, or one that became a GET, gets none, nor does
// what follows a hop to another origin.
func (h *sendHeaders) setKey(req *http.Request, st *call.State) {
	given := st.Options.IdempotencyKey
	if h.key == "" || req.Header.Get(h.key) != "" || !getsKey(req, st) {
		return
	}
	if given == AutoKey {
		given = ""
	}
	req.Header.Set(h.key, st.Key(given))
}

// getsKey tells whether the hop gets the key that the call asked for.
func getsKey(req *http.Request, st *call.State) bool {
	return st.Options.IdempotencyKey != "" && !st.Crossed() && req.Method == st.Method && origin.Of(req.URL) == st.Origin
}

// keyed tells whether the hop carries an idempotency key, so that it may be repeated.
func keyed(req *http.Request, header string, st *call.State) bool {
	if getsKey(req, st) {
		return true
	}
	values := req.Header[header] // which is in canonical form
	return len(values) > 0 && values[0] != ""
}
