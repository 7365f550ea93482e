package host

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// TerminalOptions are what a terminal host works with; it has what is given.
type TerminalOptions struct {
	In  io.Reader // lines that the user types; nil answers nothing
	Out io.Writer // nil discards
	// Size returns the window's size in cells; nil is 80 by 24.
	Size func() (width, height int)
	// Color writes colours and shows progress in the last line.
	Color bool
	// ReadPassword reads a line without showing it. Without it a secret is refused, never echoed.
	ReadPassword func(ctx context.Context) (string, error)
	Title        string
}

// Terminal returns a host for a person at a terminal. What the server writes is cleaned of control
// characters and of escape sequences other than colours. Keys cannot be read one by one.
func Terminal(o TerminalOptions) Set {
	o.Out = cmp.Or(o.Out, io.Discard)
	t := &terminal{options: o}
	if o.In != nil {
		t.in = bufio.NewReader(o.In)
	}
	return Set{Info: Info{Name: "Terminal"}, Console: t, Prompter: t, Raw: t, Shell: nil}
}

type terminal struct {
	options  TerminalOptions
	in       *bufio.Reader
	reading  sync.Mutex // held by whoever waits for a line
	pending  chan typed // a read that was given up, whose line the next one gets
	mu       sync.Mutex
	progress bool // the last line shows progress
}

type typed struct {
	line string
	err  error
}

func (t *terminal) print(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.progress {
		t.progress = false
		text = "\r\x1b[K" + text
	}
	_, err := io.WriteString(t.options.Out, text)
	return err
}

func (t *terminal) Write(_ context.Context, text string, s Style) error {
	return t.print(t.styled(text, s))
}

func (t *terminal) WriteLine(_ context.Context, kind LineKind, text string, s Style) error {
	yellow := Style{Colored: true, Foreground: proto.ColorYellow, Background: proto.ColorNone}
	switch kind {
	case LineError:
		s = Style{Colored: true, Foreground: proto.ColorRed, Background: proto.ColorNone}
	case LineDebug:
		text, s = "DEBUG: "+text, yellow
	case LineVerbose:
		text, s = "VERBOSE: "+text, yellow
	case LineWarning:
		text, s = "WARNING: "+text, yellow
	case LinePlain:
	}
	return t.print(t.styled(text, s) + "\n")
}

// styled cleans text and puts it between the sequences of its colours.
func (t *terminal) styled(text string, s Style) string {
	text = clean(text, t.options.Color)
	if !t.options.Color || !s.Colored || text == "" {
		return text
	}
	var b strings.Builder
	if c, ok := sgr(s.Foreground); ok {
		fmt.Fprintf(&b, "\x1b[%dm", c)
	}
	if c, ok := sgr(s.Background); ok && s.Background != proto.ColorBlack {
		fmt.Fprintf(&b, "\x1b[%dm", c+10)
	}
	if b.Len() == 0 {
		return text
	}
	return b.String() + text + "\x1b[0m"
}

// sgr is the code of a foreground colour (ECMA-48); .NET counts blue and red the other way round.
func sgr(c proto.ConsoleColor) (int, bool) {
	if c < proto.ColorBlack || c > proto.ColorWhite {
		return 0, false
	}
	n := int(c)
	code := 30 + n&4>>2 + n&2 + n&1<<2
	if n&8 != 0 {
		code += 60
	}
	return code, true
}

// clean drops control characters, so that a server cannot drive the terminal. Colours may stay.
func clean(text string, colors bool) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 }) < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] == 0x1B {
			n, color := escapeSequence(text[i:])
			if color && colors {
				b.WriteString(text[i : i+n])
			}
			i += n
			continue
		}
		r, n := rune(text[i]), 1
		if r >= 0x80 {
			for i+n < len(text) && text[i+n]&0xC0 == 0x80 {
				n++
			}
		}
		switch part := text[i : i+n]; {
		case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7F:
			b.WriteString(part)
		case n > 1 && (n != 2 || text[i] != 0xC2 || text[i+1] >= 0xA0):
			b.WriteString(part)
		}
		i += n
	}
	return b.String()
}

// escapeSequence returns the length of the escape sequence at the start of s, and whether it is one
// that sets colours.
func escapeSequence(s string) (n int, color bool) {
	if len(s) < 2 || s[1] != '[' {
		return min(2, len(s)), false
	}
	for n = 2; n < len(s); n++ {
		if c := s[n]; c >= 0x40 && c <= 0x7E {
			return n + 1, c == 'm'
		} else if c < 0x20 {
			return n, false
		}
	}
	return n, false
}

func (t *terminal) WriteProgress(_ context.Context, _ int64, r *proto.ProgressRecord) error {
	if !t.options.Color {
		return nil
	}
	if r.Completed {
		return t.print("")
	}
	line := r.Activity
	if r.StatusDescription != "" {
		line += ": " + r.StatusDescription
	}
	if r.PercentComplete >= 0 {
		line += fmt.Sprintf(" %d %%", r.PercentComplete)
	}
	width, _ := t.size()
	runes := []rune(strings.ReplaceAll(clean(line, false), "\n", " "))
	if err := t.print(string(runes[:min(len(runes), max(width-1, 0))])); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress = true
	return nil
}

func (t *terminal) size() (int, int) {
	if t.options.Size == nil {
		return 80, 24
	}
	return t.options.Size()
}

// ReadLine reads a line. A read that ctx ends goes on behind it, and its line is the next one's.
func (t *terminal) ReadLine(ctx context.Context) (string, error) {
	if t.in == nil {
		return "", ErrNotImplemented
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if t.pending == nil {
		c := make(chan typed, 1)
		t.pending = c
		go func() {
			line, err := t.in.ReadString('\n')
			if line != "" {
				err = nil
			}
			c <- typed{strings.TrimRight(line, "\r\n"), err}
		}()
	}
	select {
	case got := <-t.pending:
		t.pending = nil
		return got.line, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (t *terminal) ReadSecure(ctx context.Context) (*clixml.SecureString, error) {
	if t.options.ReadPassword == nil {
		return nil, errors.New("host: this terminal cannot read a secret without showing it")
	}
	text, err := t.options.ReadPassword(ctx)
	if err != nil {
		return nil, err
	}
	return clixml.NewSecureString(text), nil
}

func (t *terminal) head(ctx context.Context, caption, message string) error {
	for _, s := range []string{caption, message} {
		if s == "" {
			continue
		}
		if err := t.WriteLine(ctx, LinePlain, s, Style{}); err != nil {
			return err
		}
	}
	return nil
}

func (t *terminal) Prompt(ctx context.Context, caption, message string, fields []proto.FieldDescription) (map[string]clixml.Value, error) {
	if err := t.head(ctx, caption, message); err != nil {
		return nil, err
	}
	answers := map[string]clixml.Value{}
	for _, f := range fields {
		label := cmp.Or(strings.ReplaceAll(f.Label, "&", ""), f.Name)
		if err := t.Write(ctx, label+": ", Style{}); err != nil {
			return nil, err
		}
		if f.Secret() {
			s, err := t.ReadSecure(ctx)
			if err != nil {
				return nil, err
			}
			answers[f.Name] = s.Value()
			continue
		}
		line, err := t.ReadLine(ctx)
		if err != nil {
			return nil, err
		}
		if line == "" && !f.Default.IsNil() {
			answers[f.Name] = f.Default
			continue
		}
		answers[f.Name] = clixml.String(line)
	}
	return answers, nil
}

func (t *terminal) Credential(ctx context.Context, r CredentialRequest) (clixml.Credential, error) {
	if err := t.head(ctx, r.Caption, r.Message); err != nil {
		return clixml.Credential{}, err
	}
	c := clixml.Credential{User: r.User}
	if c.User == "" {
		if err := t.Write(ctx, "User: ", Style{}); err != nil {
			return c, err
		}
		var err error
		if c.User, err = t.ReadLine(ctx); err != nil {
			return c, err
		}
	}
	if err := t.Write(ctx, "Password for user "+c.User+": ", Style{}); err != nil {
		return c, err
	}
	var err error
	c.Password, err = t.ReadSecure(ctx)
	return c, err
}

func (t *terminal) Choose(ctx context.Context, r ChoiceRequest) ([]int32, error) {
	if err := t.head(ctx, r.Caption, r.Message); err != nil {
		return nil, err
	}
	var menu strings.Builder
	for i, c := range r.Choices {
		fmt.Fprintf(&menu, "[%s] %s  ", shortcut(i, c.Label), strings.ReplaceAll(c.Label, "&", ""))
	}
	for range 5 {
		if err := t.Write(ctx, menu.String()+": ", Style{}); err != nil {
			return nil, err
		}
		line, err := t.ReadLine(ctx)
		if err != nil {
			return nil, err
		}
		if line == "" && (r.Multiple || len(r.Defaults) > 0) {
			return r.Defaults, nil
		}
		var chosen []int32
		for word := range strings.SplitSeq(line, ",") {
			for i, c := range r.Choices {
				label := strings.ReplaceAll(c.Label, "&", "")
				if w := strings.TrimSpace(word); w != "" && (strings.EqualFold(w, label) || strings.EqualFold(w, shortcut(i, c.Label))) {
					chosen = append(chosen, int32(i))
					break
				}
			}
		}
		if len(chosen) == 1 || r.Multiple && len(chosen) > 0 {
			return chosen, nil
		}
	}
	return nil, errors.New("host: none of the choices was typed, five times")
}

// shortcut is the letter after the & of a label, or the choice's number.
func shortcut(i int, label string) string {
	if _, after, ok := strings.Cut(label, "&"); ok && after != "" {
		return strings.ToUpper(string([]rune(after)[:1]))
	}
	return strconv.Itoa(i + 1)
}

func (t *terminal) State(context.Context) (proto.HostDefaultData, error) {
	w, h := t.size()
	size := proto.Size{Width: cells(w), Height: cells(h)}
	return proto.HostDefaultData{
		Foreground: proto.ColorNone, Background: proto.ColorNone, CursorSize: 100,
		Buffer: size, Window: size, MaxWindow: size, MaxPhysicalWindow: size, Title: t.options.Title,
	}, nil
}

// cells bounds what a program says of its window.
func cells(n int) int32 { return int32(min(max(n, 0), 10_000)) }

func (t *terminal) Set(context.Context, Property, proto.HostDefaultData) error {
	return ErrNotImplemented
}
func (t *terminal) KeyAvailable(context.Context) (bool, error) { return false, ErrNotImplemented }
func (t *terminal) Screen() Screen                             { return nil }

func (t *terminal) ReadKey(context.Context, proto.ReadKeyOptions) (proto.KeyInfo, error) {
	return proto.KeyInfo{}, ErrNotImplemented
}
