package host

import (
	"context"
	"errors"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// ErrNotImplemented is a method that a host does not have.
var ErrNotImplemented = errors.New("the host does not implement it")

// Set is a host. The zero Set is the null host, which servers make no calls to; a nil field is
// missing, and a server is told so. A Set may be used by several goroutines when its parts may.
type Set struct {
	Info     Info
	Console  Console
	Prompter Prompter
	Raw      RawUI
	Shell    Shell
}

// Info are a host's name and culture.
type Info struct {
	Name       string         // "" is "DefaultHost"
	Version    clixml.Version // zero is 1.0
	InstanceID clixml.GUID
	Culture    string // "en-US" when empty
	UICulture  string // Culture when empty
}

// LineKind is which of a host's streams a line is for.
type LineKind uint8

// The kinds of line.
const (
	LinePlain LineKind = iota
	LineError
	LineDebug
	LineVerbose
	LineWarning
)

// Style are the colours of text; the zero Style has none of its own.
type Style struct {
	Colored                bool
	Foreground, Background proto.ConsoleColor
}

// Console is what text is written to and read from.
type Console interface {
	// Write writes text without a line end; Colored styles come from Write2.
	Write(ctx context.Context, text string, s Style) error
	WriteLine(ctx context.Context, kind LineKind, text string, s Style) error
	WriteProgress(ctx context.Context, source int64, r *proto.ProgressRecord) error
	ReadLine(ctx context.Context) (string, error)
	// ReadSecure reads a line that is never shown.
	ReadSecure(ctx context.Context) (*clixml.SecureString, error)
}

// CredentialRequest asks for a user name and password.
type CredentialRequest struct {
	Caption, Message, User, Target string
	// Types and Options are the flags of PromptForCredential's longer form; 0 and 0 are the
	// shorter.
	Types, Options int32
}

// ChoiceRequest asks for one choice, or for some.
type ChoiceRequest struct {
	Caption, Message string
	Choices          []proto.ChoiceDescription
	Defaults         []int32 // indexes; empty means none
	Multiple         bool
}

// Prompter asks the user.
type Prompter interface {
	// Prompt returns a value for each field, by its name.
	Prompt(ctx context.Context, caption, message string, fields []proto.FieldDescription) (map[string]clixml.Value, error)
	Credential(ctx context.Context, r CredentialRequest) (clixml.Credential, error)
	// Choose returns indexes of the choices: exactly one unless Multiple.
	Choose(ctx context.Context, r ChoiceRequest) ([]int32, error)
}

// RawUI is the console's screen and keyboard.
type RawUI interface {
	// State answers the getters: colours, positions, sizes, title.
	State(ctx context.Context) (proto.HostDefaultData, error)
	// Set changes one property to what state says of it.
	Set(ctx context.Context, p Property, state proto.HostDefaultData) error
	KeyAvailable(ctx context.Context) (bool, error)
	ReadKey(ctx context.Context, o proto.ReadKeyOptions) (proto.KeyInfo, error)
	// Screen returns the buffer's cells, nil when the host cannot reach them.
	Screen() Screen
}

// Screen is a console's buffer.
type Screen interface {
	FlushInput(ctx context.Context) error
	Fill(ctx context.Context, r proto.Rectangle, c proto.BufferCell) error
	Put(ctx context.Context, at proto.Coordinates, cells [][]proto.BufferCell) error
	Cells(ctx context.Context, r proto.Rectangle) ([][]proto.BufferCell, error)
	Scroll(ctx context.Context, source proto.Rectangle, to proto.Coordinates, clip proto.Rectangle, fill proto.BufferCell) error
}

// Property is a settable property of a RawUI.
type Property uint8

// The settable properties.
const (
	PropertyForeground Property = iota
	PropertyBackground
	PropertyCursor
	PropertyWindowPosition
	PropertyCursorSize
	PropertyBuffer
	PropertyWindow
	PropertyTitle
)

// setter is the method that changes the property; setters and getters stand in pairs.
func (p Property) setter() proto.HostMethod {
	return proto.HostSetForegroundColor + 2*proto.HostMethod(p)
}

// Shell is the program around a session.
type Shell interface {
	SetShouldExit(ctx context.Context, code int32) error
	// Nested enters a nested prompt or leaves it.
	Nested(ctx context.Context, enter bool) error
	// NotifyApplication tells that a program that draws on the console begins or ends.
	NotifyApplication(ctx context.Context, begin bool) error
	// PopRunspace leaves a session that was entered, which is what Exit-PSSession asks for.
	PopRunspace(ctx context.Context) error
	// RunspacePushed reports whether a session was entered.
	RunspacePushed(ctx context.Context) (bool, error)
}

// HostInfo tells a server what there is, and no more.
func (s Set) HostInfo(ctx context.Context) proto.HostInfo {
	if s.Console == nil && s.Prompter == nil && s.Raw == nil && s.Shell == nil {
		return proto.NoHost()
	}
	h := proto.HostInfo{UINull: s.Console == nil && s.Prompter == nil, RawUINull: s.Raw == nil}
	if s.Raw != nil {
		if d, err := s.Raw.State(ctx); err == nil {
			h.Default = &d
		} else {
			h.RawUINull = true
		}
	}
	return h
}
