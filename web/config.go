package web

import "fmt"

// ConfigError is an option that cannot be. Constructors of this package and of
// those below it return it, joined when there are several.
type ConfigError struct {
	Field string // as in Go: "Options.ClientIP"
	Got   any
	Want  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("config %s: got %v, want %s", e.Field, e.Got, e.Want)
}

// Must returns mw and panics with err: for middleware whose options are written
// in the program, where a wrong one is a mistake found the first time it starts.
func Must(mw Middleware, err error) Middleware {
	if err != nil {
		panic(err)
	}
	return mw
}
