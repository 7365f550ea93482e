package proto

import (
	"fmt"
	"io"
	"regexp"
	"sync"
)

// TextTracer returns a Tracer that writes a line for each message: its direction, type and
// pipeline, and up to limit bytes of its body, with the text of SecureStrings and keys masked.
// Arguments and output are not masked: a trace is for the hunt for faults. limit 0 writes no
// bodies. It may be used by several sessions.
func TextTracer(w io.Writer, limit int) Tracer {
	return &textTracer{w: w, limit: limit}
}

type textTracer struct {
	mu    sync.Mutex
	w     io.Writer
	limit int
}

func (t *textTracer) TraceMessage(dir Direction, h MessageHeader, body []byte) {
	line := fmt.Appendf(nil, "%s %v", dir, h.Type)
	if !h.Pipeline.IsZero() {
		line = fmt.Appendf(line, " %v", h.Pipeline)
	}
	line = fmt.Appendf(line, " %d bytes", len(body))
	if t.limit > 0 && h.Type != MessagePublicKey && h.Type != MessageEncryptedSessionKey {
		// Masked before it is cut: half a secret is one too.
		masked := maskSecrets(body)
		if len(masked) > t.limit {
			masked = append(masked[:t.limit:t.limit], "..."...)
		}
		line = fmt.Appendf(line, " %q", masked)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.w.Write(append(line, '\n'))
}

var secretElement = regexp.MustCompile(`(<SS(?: [^>]*)?>)[^<]*`)

func maskSecrets(body []byte) []byte { return secretElement.ReplaceAll(body, []byte("${1}[redacted]")) }
