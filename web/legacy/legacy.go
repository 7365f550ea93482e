// Package legacy has response formats and ids that older clients of other frameworks expect. New
// programs do not need it.
package legacy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"example.com/quire/web"
)

// maxCallback is how many characters the name of a callback may have.
const maxCallback = 128

// isCallback takes [A-Za-z_$][A-Za-z0-9_$.]*: no brackets, quotes or spaces that could make a
// program of it.
func isCallback(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', c == '_', c == '$':
		case i > 0 && (c == '.' || '0' <= c && c <= '9'):
		default:
			return false
		}
	}
	return len(name) <= maxCallback
}

// JSONP answers with a script that calls the function named by a query key, such as "callback",
// with v. Without the key it is JSON. A name that is none of JavaScript is a *web.BindError (400).
// Danger: any page of the world can read such an answer, with the cookies of whoever looks at
// the page; CORS is the way that asks.
func JSONP(c *web.Context, code int, key string, v any) error {
	name := c.Query(key)
	if name == "" {
		return c.JSON(code, v)
	}
	if !isCallback(name) {
		return &web.BindError{Source: "query", Name: key, Kind: web.BindSyntax, Want: "the name of a JavaScript function, of at most 128 characters"}
	}
	t := getText()
	defer t.release()
	// The comment keeps a name from being the beginning of some other kind of file.
	t.WriteString("/**/")
	t.WriteString(name)
	t.WriteByte('(')
	if err := t.encode(v); err != nil { // which escapes U+2028 and U+2029, that end lines of old scripts
		return fmt.Errorf("legacy: encode JSONP: %w", err)
	}
	t.WriteString(");")
	return c.Blob(code, "text/javascript; charset=utf-8", t.Bytes())
}

// SecureJSON answers with v as JSON, and an array with prefix before it, which keeps old browsers
// from running it as a script; the client has to cut it off. "" is "while(1);".
func SecureJSON(c *web.Context, code int, prefix string, v any) error {
	prefix = cmp.Or(prefix, "while(1);")
	t := getText()
	defer t.release()
	t.WriteString(prefix)
	if err := t.encode(v); err != nil {
		return fmt.Errorf("legacy: encode JSON: %w", err)
	}
	body := t.Bytes()
	if body[len(prefix)] != '[' {
		body = body[len(prefix):]
	}
	return c.Blob(code, "application/json", body)
}

// ASCIIJSON answers with v as JSON whose texts are written in ASCII: other characters are
// escaped, those beyond U+FFFF as surrogate pairs (RFC 8259, section 7).
func ASCIIJSON(c *web.Context, code int, v any) error {
	t := getText()
	defer t.release()
	if err := t.encode(v); err != nil {
		return fmt.Errorf("legacy: encode JSON: %w", err)
	}
	text := t.Bytes()
	out := make([]byte, 0, len(text)+len(text)/4)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text) // what the encoder writes is UTF-8
		text = text[n:]
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r)) //nolint:gosec // below 0x80
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = appendEscape(appendEscape(out, high), low)
		default:
			out = appendEscape(out, r)
		}
	}
	return c.Blob(code, "application/json", out)
}

// appendEscape appends \u and four digits.
func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// text is a buffer with an encoder that writes into it.
type text struct {
	bytes.Buffer
	enc *json.Encoder
}

// encode appends v as JSON.
func (t *text) encode(v any) error {
	err := t.enc.Encode(v)
	if err == nil {
		t.Truncate(t.Len() - 1) // the encoder ends each value by a line break
	}
	return err
}

var texts = sync.Pool{New: func() any {
	t := new(text)
	t.enc = json.NewEncoder(t)
	return t
}}

func getText() *text {
	t := texts.Get().(*text) // the pool holds nothing else
	t.Reset()
	return t
}

// release keeps t for another answer, unless it has grown large.
func (t *text) release() {
	if t.Cap() <= 64<<10 {
		texts.Put(t)
	}
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
