// Package profile does around a peer what a web.App does for each request of itself, so that
// contestants of one name do the same work.
package profile

import (
	"crypto/rand"
	"net/http"
)

// Note says what Wrap adds.
const Note = "request id, nosniff and recovery by a handler of a few lines around it"

// Wrap recovers panics of next and marks its answers.
func Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}()
		Mark(w.Header())
		next.ServeHTTP(w, r)
	})
}

// Mark sets a request id and nosniff.
func Mark(h http.Header) {
	h["X-Request-Id"] = []string{rand.Text()}
	h["X-Content-Type-Options"] = []string{"nosniff"}
}
