package host

import (
	"context"
	"fmt"
	"sync"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Caller makes host calls: a running command of a server. For a void method it returns when the
// call is on its way, for any other with the answer; the client's error record is the error.
type Caller interface {
	Call(ctx context.Context, m proto.HostMethod, params ...clixml.Value) (clixml.Value, error)
}

// Remote returns the host of a client as a server sees it. What info says is missing is nil.
func Remote(c Caller, info proto.HostInfo) Set {
	s := Set{}
	if info.Null {
		return s
	}
	r := remote{c}
	s.Shell = r
	if !info.UINull {
		s.Console, s.Prompter = r, r
	}
	if !info.RawUINull {
		s.Raw = newRemoteRaw(r, info.Default)
	}
	return s
}

type remote struct{ c Caller }

func (r remote) void(ctx context.Context, m proto.HostMethod, params ...clixml.Value) error {
	_, err := r.c.Call(ctx, m, params...)
	return err
}

// ask makes a call and reads its answer.
func ask[T any](ctx context.Context, r remote, read func(clixml.Value) (T, error), m proto.HostMethod, params ...clixml.Value) (t T, err error) {
	v, err := r.c.Call(ctx, m, params...)
	if err != nil {
		return t, err
	}
	t, err = read(v)
	if err != nil {
		return t, fmt.Errorf("host: %v: %w", m, err)
	}
	return t, nil
}

func color(c proto.ConsoleColor) clixml.Value { return clixml.Int32(int32(c)) }

func (r remote) Write(ctx context.Context, text string, s Style) error {
	if s.Colored {
		return r.void(ctx, proto.HostWrite2, color(s.Foreground), color(s.Background), clixml.String(text))
	}
	return r.void(ctx, proto.HostWrite1, clixml.String(text))
}

func (r remote) WriteLine(ctx context.Context, kind LineKind, text string, s Style) error {
	switch kind {
	case LineError:
		return r.void(ctx, proto.HostWriteErrorLine, clixml.String(text))
	case LineDebug:
		return r.void(ctx, proto.HostWriteDebugLine, clixml.String(text))
	case LineVerbose:
		return r.void(ctx, proto.HostWriteVerboseLine, clixml.String(text))
	case LineWarning:
		return r.void(ctx, proto.HostWriteWarningLine, clixml.String(text))
	}
	if s.Colored {
		return r.void(ctx, proto.HostWriteLine3, color(s.Foreground), color(s.Background), clixml.String(text))
	}
	return r.void(ctx, proto.HostWriteLine2, clixml.String(text))
}

func (r remote) WriteProgress(ctx context.Context, source int64, p *proto.ProgressRecord) error {
	return r.void(ctx, proto.HostWriteProgress, clixml.Int64(source), p.Value())
}

func (r remote) ReadLine(ctx context.Context) (string, error) {
	return ask(ctx, r, proto.TextOf, proto.HostReadLine)
}

func (r remote) ReadSecure(ctx context.Context) (*clixml.SecureString, error) {
	return ask(ctx, r, func(v clixml.Value) (*clixml.SecureString, error) {
		s, ok := v.SecureString()
		if !ok {
			return nil, fmt.Errorf("the answer is %v, not a SecureString", v.Kind())
		}
		return s, nil
	}, proto.HostReadLineAsSecureString)
}

func (r remote) Prompt(ctx context.Context, caption, message string, fields []proto.FieldDescription) (map[string]clixml.Value, error) {
	return ask(ctx, r, func(v clixml.Value) (map[string]clixml.Value, error) {
		d, ok := v.Dict()
		if !ok {
			return nil, fmt.Errorf("the answer is %v, not a dictionary", v.Kind())
		}
		answers := map[string]clixml.Value{}
		for _, e := range d.Entries {
			if k, ok := e.Key.Text(); ok {
				answers[k] = e.Value
			}
		}
		return answers, nil
	}, proto.HostPrompt, clixml.String(caption), clixml.String(message), proto.ListValue(fields))
}

func (r remote) Credential(ctx context.Context, q CredentialRequest) (clixml.Credential, error) {
	params := []clixml.Value{clixml.String(q.Caption), clixml.String(q.Message), clixml.String(q.User), clixml.String(q.Target)}
	m := proto.HostPromptForCredential1
	if q.Types != 0 || q.Options != 0 {
		m = proto.HostPromptForCredential2
		params = append(params, clixml.Int32(q.Types), clixml.Int32(q.Options))
	}
	return ask(ctx, r, func(v clixml.Value) (clixml.Credential, error) {
		c, ok := clixml.CredentialOf(v)
		if !ok {
			return c, fmt.Errorf("the answer is %v, not a PSCredential", v.Kind())
		}
		return c, nil
	}, m, params...)
}

// Choose asks for one choice by PromptForChoice, for several by PromptForChoiceMultipleSelection.
// PowerShell 7.6.5 as a client cannot read the latter, not from its own server either, and closes
// the pipeline: a command that is to serve it asks for one choice, or by Prompt.
func (r remote) Choose(ctx context.Context, q ChoiceRequest) ([]int32, error) {
	def := int32(-1)
	if len(q.Defaults) > 0 {
		def = q.Defaults[0]
	}
	if !q.Multiple {
		return ask(ctx, r, func(v clixml.Value) ([]int32, error) {
			n, ok := v.Int()
			if !ok || n < 0 || n >= int64(len(q.Choices)) {
				return nil, fmt.Errorf("the answer is %v, not one of %d choices", v.Kind(), len(q.Choices))
			}
			return []int32{int32(n)}, nil //nolint:gosec // G115: an index of a short list
		}, proto.HostPromptForChoice, clixml.String(q.Caption), clixml.String(q.Message), proto.ListValue(q.Choices), clixml.Int32(def))
	}
	return ask(ctx, r, func(v clixml.Value) ([]int32, error) {
		chosen, err := proto.Int32sOf(v.Base())
		for _, n := range chosen {
			if n < 0 || int(n) >= len(q.Choices) {
				return nil, fmt.Errorf("choice %d of %d", n, len(q.Choices))
			}
		}
		return chosen, err
	}, proto.HostPromptForChoiceMultipleSelection, clixml.String(q.Caption), clixml.String(q.Message), proto.ListValue(q.Choices), proto.Int32sValue(q.Defaults))
}

func (r remote) SetShouldExit(ctx context.Context, code int32) error {
	return r.void(ctx, proto.HostSetShouldExit, clixml.Int32(code))
}

func (r remote) Nested(ctx context.Context, enter bool) error {
	if enter {
		return r.void(ctx, proto.HostEnterNestedPrompt)
	}
	return r.void(ctx, proto.HostExitNestedPrompt)
}

func (r remote) NotifyApplication(ctx context.Context, begin bool) error {
	if begin {
		return r.void(ctx, proto.HostNotifyBeginApplication)
	}
	return r.void(ctx, proto.HostNotifyEndApplication)
}

func (r remote) PopRunspace(ctx context.Context) error { return r.void(ctx, proto.HostPopRunspace) }

func boolOf(v clixml.Value) (bool, error) {
	b, ok := v.Base().Bool()
	if !ok {
		return false, fmt.Errorf("the answer is %v, not a truth value", v.Kind())
	}
	return b, nil
}

func (r remote) RunspacePushed(ctx context.Context) (bool, error) {
	return ask(ctx, r, boolOf, proto.HostGetIsRunspacePushed)
}

// remoteRaw keeps what the client said of its screen when it opened, in step with what is set, so
// that the getters make no calls.
type remoteRaw struct {
	remote
	mu    sync.Mutex
	known *proto.HostDefaultData // nil asks the client each time
}

func newRemoteRaw(r remote, known *proto.HostDefaultData) *remoteRaw {
	raw := &remoteRaw{remote: r}
	if known != nil {
		d := *known
		raw.known = &d
	}
	return raw
}

func (r *remoteRaw) State(ctx context.Context) (d proto.HostDefaultData, err error) {
	r.mu.Lock()
	if r.known != nil {
		defer r.mu.Unlock()
		return *r.known, nil
	}
	r.mu.Unlock()
	for m := proto.HostGetForegroundColor; m <= proto.HostGetMaxPhysicalWindowSize; m++ {
		if m.Void() {
			continue // a setter
		}
		_, e := ask(ctx, r.remote, func(v clixml.Value) (any, error) { return nil, d.SetProperty(m, v) }, m)
		if err == nil {
			err = e
		}
	}
	return d, err
}

func (r *remoteRaw) Set(ctx context.Context, p Property, d proto.HostDefaultData) error {
	m := p.setter()
	v, ok := d.Property(m)
	if !ok || !m.Void() {
		return ErrNotImplemented
	}
	if err := r.void(ctx, m, v); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		return r.known.SetProperty(m, v)
	}
	return nil
}

func (r *remoteRaw) KeyAvailable(ctx context.Context) (bool, error) {
	return ask(ctx, r.remote, boolOf, proto.HostGetKeyAvailable)
}

func (r *remoteRaw) ReadKey(ctx context.Context, o proto.ReadKeyOptions) (proto.KeyInfo, error) {
	return ask(ctx, r.remote, proto.KeyInfoOf, proto.HostReadKey, clixml.Int32(int32(o)))
}

func (r *remoteRaw) Screen() Screen { return remoteScreen{r.remote} }

type remoteScreen struct{ remote }

func (r remoteScreen) FlushInput(ctx context.Context) error {
	return r.void(ctx, proto.HostFlushInputBuffer)
}

func (r remoteScreen) Fill(ctx context.Context, a proto.Rectangle, c proto.BufferCell) error {
	return r.void(ctx, proto.HostSetBufferContents1, a.Value(), c.Value())
}

func (r remoteScreen) Put(ctx context.Context, at proto.Coordinates, cells [][]proto.BufferCell) error {
	return r.void(ctx, proto.HostSetBufferContents2, at.Value(), proto.CellsValue(cells))
}

func (r remoteScreen) Cells(ctx context.Context, a proto.Rectangle) ([][]proto.BufferCell, error) {
	return ask(ctx, r.remote, proto.CellsOf, proto.HostGetBufferContents, a.Value())
}

func (r remoteScreen) Scroll(ctx context.Context, source proto.Rectangle, to proto.Coordinates, clip proto.Rectangle, fill proto.BufferCell) error {
	return r.void(ctx, proto.HostScrollBufferContents, source.Value(), to.Value(), clip.Value(), fill.Value())
}
