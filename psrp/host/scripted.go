package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Answer is what a scripted host gives to one call of a method. The type of Value is the method's
// own: string for ReadLine, *clixml.SecureString, map[string]clixml.Value for Prompt,
// clixml.Credential, []int32 for choices, proto.KeyInfo, [][]proto.BufferCell, bool. An error
// refuses.
type Answer struct {
	Method proto.HostMethod
	Value  any
}

// Scripted is a host that answers from a list and remembers what was written. It may be used by
// several goroutines.
type Scripted struct {
	mu      sync.Mutex
	answers []Answer
	state   proto.HostDefaultData
	text    strings.Builder
	calls   []string
}

// NewScripted returns a host that gives each answer once, the first that fits the method first.
func NewScripted(answers ...Answer) *Scripted {
	size := proto.Size{Width: 80, Height: 24}
	return &Scripted{answers: answers, state: proto.HostDefaultData{
		Foreground: proto.ColorGray, CursorSize: 25, Buffer: size, Window: size, MaxWindow: size, MaxPhysicalWindow: size, Title: "scripted",
	}}
}

// Set returns the host with all its parts.
func (h *Scripted) Set() Set {
	p := scriptedParts{h}
	return Set{Info: Info{Name: "ScriptedHost"}, Console: p, Prompter: p, Raw: p, Shell: p}
}

// Written returns what was written: lines of other kinds than plain with their name before them.
func (h *Scripted) Written() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// Calls returns the names of the methods that were called, in order.
func (h *Scripted) Calls() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

func (h *Scripted) called(m proto.HostMethod) { h.calls = append(h.calls, m.String()) }

// take removes the first answer to a method.
func take[T any](h *Scripted, m proto.HostMethod) (t T, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.called(m)
	i := slices.IndexFunc(h.answers, func(a Answer) bool { return a.Method == m })
	if i < 0 {
		return t, fmt.Errorf("host: the script has no answer to %v", m)
	}
	a := h.answers[i]
	h.answers = slices.Delete(h.answers, i, i+1)
	if err, ok := a.Value.(error); ok {
		return t, err
	}
	t, ok := a.Value.(T)
	if !ok {
		return t, fmt.Errorf("host: the script answers %v with a %T, not a %T", m, a.Value, t)
	}
	return t, nil
}

func (h *Scripted) write(m proto.HostMethod, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.called(m)
	h.text.WriteString(text)
	return nil
}

// scriptedParts are the parts of the host, apart from what its owner calls.
type scriptedParts struct{ *Scripted }

func (h scriptedParts) Write(_ context.Context, text string, s Style) error {
	if s.Colored {
		return h.write(proto.HostWrite2, text)
	}
	return h.write(proto.HostWrite1, text)
}

func (h scriptedParts) WriteLine(_ context.Context, kind LineKind, text string, _ Style) error {
	switch kind {
	case LineError:
		return h.write(proto.HostWriteErrorLine, "ERROR: "+text+"\n")
	case LineDebug:
		return h.write(proto.HostWriteDebugLine, "DEBUG: "+text+"\n")
	case LineVerbose:
		return h.write(proto.HostWriteVerboseLine, "VERBOSE: "+text+"\n")
	case LineWarning:
		return h.write(proto.HostWriteWarningLine, "WARNING: "+text+"\n")
	}
	return h.write(proto.HostWriteLine2, text+"\n")
}

func (h scriptedParts) WriteProgress(context.Context, int64, *proto.ProgressRecord) error {
	return h.write(proto.HostWriteProgress, "")
}

func (h scriptedParts) ReadLine(context.Context) (string, error) {
	return take[string](h.Scripted, proto.HostReadLine)
}

func (h scriptedParts) ReadSecure(context.Context) (*clixml.SecureString, error) {
	return take[*clixml.SecureString](h.Scripted, proto.HostReadLineAsSecureString)
}

func (h scriptedParts) Prompt(context.Context, string, string, []proto.FieldDescription) (map[string]clixml.Value, error) {
	return take[map[string]clixml.Value](h.Scripted, proto.HostPrompt)
}

func (h scriptedParts) Credential(_ context.Context, r CredentialRequest) (clixml.Credential, error) {
	if r.Types != 0 || r.Options != 0 {
		return take[clixml.Credential](h.Scripted, proto.HostPromptForCredential2)
	}
	return take[clixml.Credential](h.Scripted, proto.HostPromptForCredential1)
}

func (h scriptedParts) Choose(_ context.Context, r ChoiceRequest) ([]int32, error) {
	if r.Multiple {
		return take[[]int32](h.Scripted, proto.HostPromptForChoiceMultipleSelection)
	}
	return take[[]int32](h.Scripted, proto.HostPromptForChoice)
}

func (h scriptedParts) State(context.Context) (proto.HostDefaultData, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state, nil
}

func (h scriptedParts) Set(_ context.Context, p Property, d proto.HostDefaultData) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, _ := d.Property(p.setter())
	return h.state.SetProperty(p.setter(), v)
}

func (h scriptedParts) KeyAvailable(context.Context) (bool, error) {
	return take[bool](h.Scripted, proto.HostGetKeyAvailable)
}

func (h scriptedParts) ReadKey(context.Context, proto.ReadKeyOptions) (proto.KeyInfo, error) {
	return take[proto.KeyInfo](h.Scripted, proto.HostReadKey)
}

func (h scriptedParts) Screen() Screen { return h }

func (h scriptedParts) FlushInput(context.Context) error {
	return h.write(proto.HostFlushInputBuffer, "")
}

func (h scriptedParts) Fill(context.Context, proto.Rectangle, proto.BufferCell) error {
	return h.write(proto.HostSetBufferContents1, "")
}

func (h scriptedParts) Put(context.Context, proto.Coordinates, [][]proto.BufferCell) error {
	return h.write(proto.HostSetBufferContents2, "")
}

func (h scriptedParts) Cells(context.Context, proto.Rectangle) ([][]proto.BufferCell, error) {
	return take[[][]proto.BufferCell](h.Scripted, proto.HostGetBufferContents)
}

func (h scriptedParts) Scroll(context.Context, proto.Rectangle, proto.Coordinates, proto.Rectangle, proto.BufferCell) error {
	return h.write(proto.HostScrollBufferContents, "")
}

func (h scriptedParts) SetShouldExit(_ context.Context, code int32) error {
	return h.write(proto.HostSetShouldExit, fmt.Sprintf("exit %d\n", code))
}

func (h scriptedParts) Nested(_ context.Context, enter bool) error {
	if enter {
		return h.write(proto.HostEnterNestedPrompt, "")
	}
	return h.write(proto.HostExitNestedPrompt, "")
}

func (h scriptedParts) NotifyApplication(_ context.Context, begin bool) error {
	if begin {
		return h.write(proto.HostNotifyBeginApplication, "")
	}
	return h.write(proto.HostNotifyEndApplication, "")
}

func (h scriptedParts) PopRunspace(context.Context) error { return h.write(proto.HostPopRunspace, "") }

func (h scriptedParts) RunspacePushed(context.Context) (bool, error) {
	return take[bool](h.Scripted, proto.HostGetIsRunspacePushed)
}
