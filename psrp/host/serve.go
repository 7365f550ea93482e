package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Serve answers a call: every one of the 56 methods, with an error record for what the host does
// not have, for parameters that do not fit, and for a panic of the host. The answer to a void call
// (not WantsAnswer) is not sent.
func (s Set) Serve(ctx context.Context, c *proto.HostCall) (r *proto.HostResponse) {
	defer func() {
		if p := recover(); p != nil {
			r = c.Refuse(failure(c.Method, errors.New("the host failed")))
		}
	}()
	a := arguments{params: c.Params}
	v, err := s.serve(ctx, c.Method, &a)
	switch {
	case a.err != nil:
		return c.Refuse(failure(c.Method, a.err))
	case errors.Is(err, ErrNotImplemented):
		return c.Refuse(proto.NotImplementedRecord(c.Method))
	case err != nil:
		return c.Refuse(failure(c.Method, err))
	}
	return c.Answer(v)
}

// failure is the record of a call that failed.
func failure(m proto.HostMethod, err error) *proto.ErrorRecord {
	e := proto.NewErrorRecord("HostCallFailed", proto.InvalidOperation, fmt.Sprintf("The host call %v failed: %v", m, err))
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		e.FullyQualifiedErrorID, e.Category = "HostCallCanceled", proto.OperationStopped
	}
	return e
}

// arguments reads the parameters of a call; the first error sticks.
type arguments struct {
	params []clixml.Value
	err    error
}

func (a *arguments) at(i int) clixml.Value {
	if i < len(a.params) {
		return a.params[i]
	}
	if a.err == nil {
		a.err = fmt.Errorf("parameter %d is missing", i+1)
	}
	return clixml.Value{}
}

func (a *arguments) text(i int) string { return read(a, i, proto.TextOf) }

func (a *arguments) int32(i int) int32 { return read(a, i, proto.Int32Of) }

// read reads a parameter by one of proto's functions.
func read[T any](a *arguments, i int, f func(clixml.Value) (T, error)) T {
	v := a.at(i)
	t, err := f(v)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("parameter %d: %w", i+1, err)
	}
	return t
}

func (a *arguments) style(i int) Style {
	return Style{Colored: true, Foreground: proto.ConsoleColor(a.int32(i)), Background: proto.ConsoleColor(a.int32(i + 1))}
}

func (s Set) serve(ctx context.Context, m proto.HostMethod, a *arguments) (clixml.Value, error) {
	var none clixml.Value
	switch {
	case m >= proto.HostGetName && m <= proto.HostGetCurrentUICulture:
		return s.info(m), nil
	case m >= proto.HostReadLine && m <= proto.HostWriteWarningLine:
		if s.Console == nil {
			return none, ErrNotImplemented
		}
		return s.console(ctx, m, a)
	case m >= proto.HostPrompt && m <= proto.HostPromptForChoice, m == proto.HostPromptForChoiceMultipleSelection:
		if s.Prompter == nil {
			return none, ErrNotImplemented
		}
		return s.prompt(ctx, m, a)
	case m >= proto.HostGetForegroundColor && m <= proto.HostScrollBufferContents:
		if s.Raw == nil {
			return none, ErrNotImplemented
		}
		return s.raw(ctx, m, a)
	case s.Shell == nil || !m.Known():
		return none, ErrNotImplemented
	}
	switch m {
	case proto.HostSetShouldExit:
		if code := a.int32(0); a.err == nil {
			return none, s.Shell.SetShouldExit(ctx, code)
		}
		return none, nil
	case proto.HostEnterNestedPrompt, proto.HostExitNestedPrompt:
		return none, s.Shell.Nested(ctx, m == proto.HostEnterNestedPrompt)
	case proto.HostNotifyBeginApplication, proto.HostNotifyEndApplication:
		return none, s.Shell.NotifyApplication(ctx, m == proto.HostNotifyBeginApplication)
	case proto.HostPopRunspace:
		return none, s.Shell.PopRunspace(ctx)
	case proto.HostGetIsRunspacePushed:
		pushed, err := s.Shell.RunspacePushed(ctx)
		return clixml.Bool(pushed), err
	}
	// PushRunspace and GetRunspace move a runspace itself, which nothing can send.
	return none, ErrNotImplemented
}

func (s Set) info(m proto.HostMethod) clixml.Value {
	i := s.Info
	switch m {
	case proto.HostGetName:
		i.Name = cmp.Or(i.Name, "DefaultHost")
		return clixml.String(i.Name)
	case proto.HostGetVersion:
		if i.Version == (clixml.Version{}) {
			i.Version = clixml.NewVersion(1, 0)
		}
		return i.Version.Value()
	case proto.HostGetInstanceID:
		return i.InstanceID.Value()
	}
	name := i.Culture
	if m == proto.HostGetCurrentUICulture && i.UICulture != "" {
		name = i.UICulture
	}
	name = cmp.Or(name, "en-US")
	return (&clixml.Object{
		TypeNames: []string{"System.Globalization.CultureInfo", "System.Object"}, ToString: name, HasToString: true,
		Adapted: clixml.Properties{{Name: "Name", Value: clixml.String(name)}},
	}).Value()
}

func (s Set) console(ctx context.Context, m proto.HostMethod, a *arguments) (clixml.Value, error) {
	var none clixml.Value
	line := func(kind LineKind, text string, st Style) (clixml.Value, error) {
		if a.err != nil {
			return none, a.err
		}
		return none, s.Console.WriteLine(ctx, kind, text, st)
	}
	switch m {
	case proto.HostReadLine:
		text, err := s.Console.ReadLine(ctx)
		return clixml.String(text), err
	case proto.HostReadLineAsSecureString:
		secret, err := s.Console.ReadSecure(ctx)
		return secret.Value(), err
	case proto.HostWrite1, proto.HostWrite2:
		var st Style
		at := 0
		if m == proto.HostWrite2 {
			st, at = a.style(0), 2
		}
		if text := a.text(at); a.err == nil {
			return none, s.Console.Write(ctx, text, st)
		}
		return none, nil
	case proto.HostWriteLine1:
		return line(LinePlain, "", Style{})
	case proto.HostWriteLine2:
		return line(LinePlain, a.text(0), Style{})
	case proto.HostWriteLine3:
		return line(LinePlain, a.text(2), a.style(0))
	case proto.HostWriteErrorLine:
		return line(LineError, a.text(0), Style{})
	case proto.HostWriteDebugLine:
		return line(LineDebug, a.text(0), Style{})
	case proto.HostWriteVerboseLine:
		return line(LineVerbose, a.text(0), Style{})
	case proto.HostWriteWarningLine:
		return line(LineWarning, a.text(0), Style{})
	case proto.HostWriteProgress:
		source, ok := a.at(0).Int()
		if !ok && a.err == nil {
			a.err = fmt.Errorf("parameter 1 is %v", a.at(0).Kind())
		}
		r := read(a, 1, proto.ProgressOf)
		if a.err != nil {
			return none, a.err
		}
		return none, s.Console.WriteProgress(ctx, source, r)
	}
	return none, ErrNotImplemented
}

func (s Set) prompt(ctx context.Context, m proto.HostMethod, a *arguments) (clixml.Value, error) {
	var none clixml.Value
	caption, message := a.text(0), a.text(1)
	switch m {
	case proto.HostPrompt:
		fields := read(a, 2, proto.FieldsOf)
		if a.err != nil {
			return none, a.err
		}
		answers, err := s.Prompter.Prompt(ctx, caption, message, fields)
		if err != nil {
			return none, err
		}
		d := &clixml.Dict{}
		for _, f := range fields {
			if v, ok := answers[f.Name]; ok {
				d.Set(f.Name, v)
			}
		}
		return d.Value(), nil
	case proto.HostPromptForCredential1, proto.HostPromptForCredential2:
		r := CredentialRequest{Caption: caption, Message: message, User: a.text(2), Target: a.text(3)}
		if m == proto.HostPromptForCredential2 {
			r.Types, r.Options = a.int32(4), a.int32(5)
		}
		if a.err != nil {
			return none, a.err
		}
		c, err := s.Prompter.Credential(ctx, r)
		if err != nil {
			return none, err
		}
		return c.Value(), nil
	}
	r := ChoiceRequest{Caption: caption, Message: message, Choices: read(a, 2, proto.ChoicesOf), Multiple: m == proto.HostPromptForChoiceMultipleSelection}
	if r.Multiple {
		r.Defaults = read(a, 3, proto.Int32sOf)
	} else if d := a.int32(3); d >= 0 {
		r.Defaults = []int32{d}
	}
	if a.err != nil {
		return none, a.err
	}
	chosen, err := s.Prompter.Choose(ctx, r)
	switch {
	case err != nil:
		return none, err
	case r.Multiple:
		l := &clixml.List{}
		for _, n := range chosen {
			l.Items = append(l.Items, clixml.Int32(n))
		}
		return l.Value(), nil
	case len(chosen) != 1:
		return none, fmt.Errorf("%d choices, where one is asked for", len(chosen))
	}
	return clixml.Int32(chosen[0]), nil
}

func (s Set) raw(ctx context.Context, m proto.HostMethod, a *arguments) (clixml.Value, error) {
	var none clixml.Value
	if m <= proto.HostGetMaxPhysicalWindowSize { // the getters and setters
		if !m.Void() {
			d, err := s.Raw.State(ctx)
			v, _ := d.Property(m)
			return v, err
		}
		var d proto.HostDefaultData
		if read(a, 0, func(v clixml.Value) (any, error) { return nil, d.SetProperty(m, v) }); a.err != nil {
			return none, a.err
		}
		return none, s.Raw.Set(ctx, Property((m-proto.HostSetForegroundColor)/2), d) //nolint:gosec // G115: one of eight
	}
	switch m {
	case proto.HostGetKeyAvailable:
		there, err := s.Raw.KeyAvailable(ctx)
		return clixml.Bool(there), err
	case proto.HostReadKey:
		o := proto.ReadKeyOptions(a.int32(0))
		if a.err != nil {
			return none, a.err
		}
		k, err := s.Raw.ReadKey(ctx, o)
		return k.Value(), err
	}
	screen := s.Raw.Screen()
	if screen == nil {
		return none, ErrNotImplemented
	}
	switch m {
	case proto.HostFlushInputBuffer:
		return none, screen.FlushInput(ctx)
	case proto.HostSetBufferContents1:
		r, c := read(a, 0, proto.RectangleOf), read(a, 1, proto.BufferCellOf)
		if a.err == nil {
			return none, screen.Fill(ctx, r, c)
		}
	case proto.HostSetBufferContents2:
		at, cells := read(a, 0, proto.CoordinatesOf), read(a, 1, proto.CellsOf)
		if a.err == nil {
			return none, screen.Put(ctx, at, cells)
		}
	case proto.HostGetBufferContents:
		r := read(a, 0, proto.RectangleOf)
		if a.err == nil {
			cells, err := screen.Cells(ctx, r)
			return proto.CellsValue(cells), err
		}
	case proto.HostScrollBufferContents:
		from, to := read(a, 0, proto.RectangleOf), read(a, 1, proto.CoordinatesOf)
		clip, fill := read(a, 2, proto.RectangleOf), read(a, 3, proto.BufferCellOf)
		if a.err == nil {
			return none, screen.Scroll(ctx, from, to, clip, fill)
		}
	default:
		return none, ErrNotImplemented
	}
	return none, nil
}
