// Package legacy has forms of answers and ids that older clients of other frameworks expect.
// New programs need none of it.
package legacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/quire/web"
)

// callbackName is what a callback of JSONP may be called: no brackets, quotes or spaces that
// could make a program of it.
var callbackName = regexp.MustCompile(`^[A-Za-z_$][\w$.]{0,127}$`)

// JSONP answers with a script that calls the function named by a query key, such as "callback",
// with v. Without the key it is JSON. A name that is none of JavaScript is a *web.BindError (400).
// Danger: any page of the world can read such an answer, with the cookies of whoever looks at
// the page; CORS is the way that asks.
func JSONP(c *web.Context, code int, key string, v any) error {
	name := c.Query(key)
	if name == "" {
		return c.JSON(code, v)
	}
	if !callbackName.MatchString(name) {
		return &web.BindError{Source: "query", Name: key, Kind: web.BindSyntax, Want: "the name of a JavaScript function, of at most 128 characters"}
	}
	text, err := json.Marshal(v) // which escapes U+2028 and U+2029, that end lines of old scripts
	if err != nil {
		return fmt.Errorf("legacy: encode JSONP: %w", err)
	}
	// The comment keeps a name from being the beginning of some other kind of file.
	return c.Blob(code, "text/javascript; charset=utf-8", fmt.Appendf(nil, "/**/%s(%s);", name, text))
}

// SecureJSON answers with v as JSON, and an array with prefix before it, which keeps old browsers
// from running it as a script; the client has to cut it off. "" is "while(1);".
func SecureJSON(c *web.Context, code int, prefix string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("legacy: encode JSON: %w", err)
	}
	if prefix == "" {
		prefix = "while(1);"
	}
	if bytes.HasPrefix(text, []byte("[")) {
		text = slices.Concat([]byte(prefix), text)
	}
	return c.Blob(code, "application/json", text)
}

// ASCIIJSON answers with v as JSON whose texts are written in ASCII: other characters are
// escaped, those beyond U+FFFF as surrogate pairs (RFC 8259, section 7).
func ASCIIJSON(c *web.Context, code int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("legacy: encode JSON: %w", err)
	}
	out := make([]byte, 0, len(text)+len(text)/4)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text) // what json.Marshal writes is UTF-8
		text = text[n:]
		switch {
		case r < utf8.RuneSelf:
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return c.Blob(code, "application/json", out)
}

// POSOptions configure POS.
type POSOptions struct {
	Terminal string           // letters, digits, "." and "_", at most 64
	Now      func() time.Time // default: time.Now, in its time zone; the day begins there
	// Last is the number that was given last on the day of the start, for a program that
	// remembers it. Default: 0. Danger: a program that starts twice in a day and
	// does not remember gives the same ids again.
	Last uint64
}

// POS returns a generator of transaction ids as points of sale print them, YYYYMMDD-terminal-
// sequence: the sequence has at least six digits and begins anew with 1 each day. It is for
// middleware.RequestIDOptions.Generate, and safe for concurrent use. They tell how much is sold
// and can be guessed: they are no secret.
func POS(o POSOptions) (func() string, error) {
	if !web.ValidRequestID(o.Terminal) || len(o.Terminal) > 64 || strings.Contains(o.Terminal, "-") {
		return nil, &web.ConfigError{Field: "POSOptions.Terminal", Got: o.Terminal, Want: "1 to 64 letters, digits, . and _"}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	var mu sync.Mutex
	day, n := o.Now().Format("20060102"), o.Last
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		// A clock that is set back does not bring back a day whose numbers were given out.
		if today := o.Now().Format("20060102"); today > day {
			day, n = today, 0
		}
		n++
		return fmt.Sprintf("%s-%s-%06d", day, o.Terminal, n)
	}, nil
}
