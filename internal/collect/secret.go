package collect

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is text that is sent and never shown: in every form that printing,
// logging and encoding know it is [redacted]. The zero value is empty.
type Secret struct{ text string }

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for sending it.
func (s Secret) Reveal() string { return s.text }

// String returns [redacted].
func (Secret) String() string { return redacted }

// GoString returns [redacted].
func (Secret) GoString() string { return redacted }

// Format writes [redacted] for every verb and flag.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redacted) // a State does not fail
}

// MarshalText returns [redacted], for encoding/json and its like.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue returns [redacted].
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
