package web

import "io"

// Codec reads and writes a media type beyond those built in, JSON, XML and forms.
// It must be safe for concurrent use. Encode must write nothing of a value that
// it cannot encode, or return an error: nothing is sent before it returns. An
// error of Decode is the client's fault (400).
type Codec interface {
	MediaTypes() []string // without parameters, lower case; the first is sent
	Encode(w io.Writer, v any) error
	Decode(r io.Reader, v any) error
}
