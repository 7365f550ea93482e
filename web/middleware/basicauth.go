package middleware

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"hash/maphash"
	"net/http"
	"strings"

	"example.com/quire/web"
)

// BasicAuthOptions configure BasicAuth.
type BasicAuthOptions struct {
	// Realm is shown by clients. Default: restricted.
	Realm string
	// Users are names and passwords. Danger: they stand in the program's memory as
	// they are; for stored hashes use Verify.
	Users map[string]string
	// Verify decides in place of Users. It must take as long for unknown users as
	// for wrong passwords.
	Verify func(c *web.Context, user, password string) bool
}

// BasicAuth asks for a name and a password (RFC 7617, in UTF-8) and sets
// Context.User. Danger: over plain HTTP everyone on the way reads them.
func BasicAuth(o BasicAuthOptions) (web.Middleware, error) {
	if o.Realm == "" {
		o.Realm = "restricted"
	}
	if strings.ContainsFunc(o.Realm, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, &web.ConfigError{Field: "BasicAuthOptions.Realm", Got: o.Realm, Want: "a text without control characters"}
	}
	if (o.Verify == nil) == (len(o.Users) == 0) {
		return nil, &web.ConfigError{Field: "BasicAuthOptions", Got: "Users and Verify", Want: "one of both"}
	}
	right := rightFields{seed: maphash.MakeSeed(), users: map[uint64]rightField{}}
	if o.Verify == nil {
		// Of hashes, so that neither the length nor the begin of a password shows.
		known := make(map[string][32]byte, len(o.Users))
		for user, password := range o.Users {
			if user == "" || strings.Contains(user, ":") {
				return nil, &web.ConfigError{Field: "BasicAuthOptions.Users", Got: user, Want: "a name without colon"}
			}
			known[user] = sha256.Sum256([]byte(password))
			right.add(user, password)
		}
		o.Verify = func(_ *web.Context, user, password string) bool {
			want, ok := known[user]
			got := sha256.Sum256([]byte(password))
			same := subtle.ConstantTimeCompare(want[:], got[:]) == 1
			return same && ok
		}
	}
	challenge := http.Header{"Www-Authenticate": {`Basic realm="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(o.Realm) + `", charset="UTF-8"`}}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			user, ok := right.user(c.Request().Header["Authorization"])
			if !ok {
				var password string
				user, password, ok = c.Request().BasicAuth()
				ok = ok && o.Verify(c, user, password)
			}
			if !ok {
				p := web.NewProblem(http.StatusUnauthorized, "a name and a password are needed", web.ErrUnauthorized)
				p.Header = challenge
				return p
			}
			c.SetUser(user)
			return next(c)
		}
	}, nil
}

// rightFields are the values of Authorization, as clients usually spell them, that are right. One
// is found by a hash of secret seed and compared in constant time, so the time it takes tells
// nothing that the answer does not.
type rightFields struct {
	seed  maphash.Seed
	users map[uint64]rightField
}

type rightField struct {
	value []byte
	user  string
}

func (f *rightFields) add(user, password string) {
	value := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	f.users[maphash.String(f.seed, value)] = rightField{[]byte(value), user}
}

// user returns whose field it is; false says no more than that it is not spelt like one of them.
func (f *rightFields) user(lines []string) (string, bool) {
	if len(lines) == 0 {
		return "", false
	}
	known, ok := f.users[maphash.String(f.seed, lines[0])]
	return known.user, ok && subtle.ConstantTimeCompare(known.value, []byte(lines[0])) == 1
}

// KeyAuthOptions configure KeyAuth.
type KeyAuthOptions struct {
	// Header has the key. Default: X-Api-Key.
	Header string
	// Verify tells whose key it is. It should compare hashes, in constant time.
	Verify func(c *web.Context, key string) (user string, ok bool)
}

// KeyAuth asks for a key in a header and sets Context.User.
func KeyAuth(o KeyAuthOptions) (web.Middleware, error) {
	if o.Header == "" {
		o.Header = "X-Api-Key"
	}
	if o.Verify == nil {
		return nil, &web.ConfigError{Field: "KeyAuthOptions.Verify", Got: "none", Want: "a function"}
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			key := c.Header(o.Header)
			user, ok := "", false
			if key != "" {
				user, ok = o.Verify(c, key)
			}
			if !ok {
				return web.NewProblem(http.StatusUnauthorized, "a key is needed", web.ErrUnauthorized)
			}
			c.SetUser(user)
			return next(c)
		}
	}, nil
}
