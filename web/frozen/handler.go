package frozen

import (
	"bytes"
	"net/http"
	"time"

	"example.com/quire/internal/httpfield"
)

// Handler answers from the sources what they have and passes everything else to
// next: GET and HEAD, with conditions and ranges, over any protocol. It stands
// outermost, before middleware, because it goes by the target as it was sent.
func Handler(next http.Handler, sources ...Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := find(sources, r)
		if e == nil {
			next.ServeHTTP(w, r)
			return
		}
		accept := noField
		if lines, ok := r.Header["Accept-Encoding"]; ok {
			accept = parseWeights(lines)
		}
		v := e.choose(&accept)
		if v == nil {
			next.ServeHTTP(w, r)
			return
		}
		if e.status == http.StatusOK {
			switch httpfield.Evaluate(r.Method, r.Header, v.tag, e.modified, true) {
			case httpfield.NotModified:
				set(w, v.headers[1])
				w.WriteHeader(http.StatusNotModified)
				return
			case httpfield.Failed:
				set(w, v.headers[1])
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
			if len(r.Header["Range"]) > 0 {
				e.ranges(w, r, v)
				return
			}
		}
		set(w, v.headers[0])
		w.WriteHeader(e.status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(v.body) // the client has gone: net/http closes the connection
		}
	})
}

func find(sources []Source, r *http.Request) *Entry {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.ContentLength != 0 || len(r.RequestURI) == 0 || r.RequestURI[0] != '/' {
		return nil
	}
	for _, s := range sources {
		if e, ok := s.Find([]byte(r.RequestURI)); ok {
			if !e.public && (len(r.Header["Authorization"]) > 0 || len(r.Header["Cookie"]) > 0) {
				return nil
			}
			return e
		}
	}
	return nil
}

func set(w http.ResponseWriter, fields []field) {
	h := w.Header()
	for _, f := range fields {
		h[f.name] = append(h[f.name], f.value)
	}
}

// ranges answers a Range request; whether the field applies, and If-Range, is
// judged by net/http, whose conditions have all been met already.
func (e *Entry) ranges(w http.ResponseWriter, r *http.Request, v *variant) {
	set(w, v.headers[0])
	w.Header().Del("Content-Length")
	plain := r.Clone(r.Context())
	for _, name := range [...]string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		plain.Header.Del(name)
	}
	http.ServeContent(w, plain, "", time.Time{}, bytes.NewReader(v.body))
}
