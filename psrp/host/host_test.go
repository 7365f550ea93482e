package host_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

// wire is a server's call that goes through the encoded form of call and answer, as over a session.
type wire struct {
	t   *testing.T
	set host.Set
}

func (w wire) Call(ctx context.Context, m proto.HostMethod, params ...clixml.Value) (clixml.Value, error) {
	w.t.Helper()
	call := &proto.HostCall{CallID: proto.VoidCall, Method: m, Params: params}
	if !m.Void() {
		call.CallID = 7
	}
	got := over(w.t, call).(*proto.HostCall)
	answer := w.set.Serve(ctx, got)
	if m.Void() {
		if answer.Error != nil {
			w.t.Errorf("%v: %v", m, answer.Error)
		}
		return clixml.Value{}, nil
	}
	r := over(w.t, answer).(*proto.HostResponse)
	if r.CallID != call.CallID || r.Method != m {
		w.t.Errorf("%v is answered by %+v", m, r)
	}
	if r.Error != nil {
		return clixml.Value{}, r.Error
	}
	return r.Result, nil
}

type plain struct{}

func (plain) Encrypt(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }
func (plain) Decrypt(dst, data []byte) ([]byte, error) { return append(dst, data...), nil }

func over(t *testing.T, m proto.Message) proto.Message {
	t.Helper()
	b, err := proto.AppendBody(nil, &clixml.Encoder{Cipher: plain{}}, m, clixml.NewVersion(2, 4))
	if err != nil {
		t.Fatal(err)
	}
	got, err := proto.DecodeMessage(m.Type(), b, &clixml.Decoder{Cipher: plain{}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEveryMethodReachesTheHostAndItsAnswerComesBack(t *testing.T) {
	ctx := t.Context()
	cells := [][]proto.BufferCell{{{Char: 'a', Foreground: 1, Background: 2}, {Char: 'b', Type: proto.CellLeading}}}
	key := proto.KeyInfo{VirtualKeyCode: 65, Char: 'a', ControlKeyState: 128, KeyDown: true}
	script := host.NewScripted(
		host.Answer{proto.HostReadLine, "line"}, host.Answer{proto.HostReadLineAsSecureString, clixml.NewSecureString("secret")},
		host.Answer{proto.HostPrompt, map[string]clixml.Value{"A": clixml.String("x")}},
		host.Answer{proto.HostPromptForCredential1, clixml.Credential{User: "u", Password: clixml.NewSecureString("p1")}},
		host.Answer{proto.HostPromptForCredential2, clixml.Credential{User: "v", Password: clixml.NewSecureString("p2")}},
		host.Answer{proto.HostPromptForChoice, []int32{1}}, host.Answer{proto.HostPromptForChoiceMultipleSelection, []int32{0, 1}},
		host.Answer{proto.HostGetKeyAvailable, true}, host.Answer{proto.HostReadKey, key}, host.Answer{proto.HostGetBufferContents, cells},
		host.Answer{proto.HostGetIsRunspacePushed, true},
	)
	set := script.Set()
	s := host.Remote(wire{t, set}, proto.HostInfo{})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	red := host.Style{Colored: true, Foreground: proto.ColorRed}
	check(s.Console.Write(ctx, "a", host.Style{}))
	check(s.Console.Write(ctx, "b", red))
	for k := host.LinePlain; k <= host.LineWarning; k++ {
		check(s.Console.WriteLine(ctx, k, "l", host.Style{}))
	}
	check(s.Console.WriteLine(ctx, host.LinePlain, "c", red))
	check(s.Console.WriteProgress(ctx, 1, proto.NewProgress(1, "a", "s")))
	if got, err := s.Console.ReadLine(ctx); err != nil || got != "line" {
		t.Errorf("ReadLine %q, %v", got, err)
	}
	secret, err := s.Console.ReadSecure(ctx)
	check(err)
	if text, _ := secret.Reveal(); text != "secret" {
		t.Errorf("ReadSecure %q", text)
	}
	answers, err := s.Prompter.Prompt(ctx, "c", "m", []proto.FieldDescription{{Name: "A"}, {Name: "B"}})
	check(err)
	if x, _ := answers["A"].Text(); x != "x" || len(answers) != 1 {
		t.Errorf("Prompt %v", answers)
	}
	for types, want := range map[int32]string{0: "u", 3: "v"} {
		c, err := s.Prompter.Credential(ctx, host.CredentialRequest{Types: types})
		if err != nil || c.User != want {
			t.Errorf("Credential %v, %v", c, err)
		}
	}
	choices := []proto.ChoiceDescription{{Label: "&Yes"}, {Label: "&No"}}
	if got, err := s.Prompter.Choose(ctx, host.ChoiceRequest{Choices: choices}); err != nil || !slices.Equal(got, []int32{1}) {
		t.Errorf("Choose %v, %v", got, err)
	}
	if got, err := s.Prompter.Choose(ctx, host.ChoiceRequest{Choices: choices, Multiple: true}); err != nil || !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("Choose many %v, %v", got, err)
	}
	if got, err := s.Raw.State(ctx); err != nil || got.Title != "scripted" || got.MaxWindow.Width != 80 {
		t.Errorf("State %+v, %v", got, err)
	}
	want := proto.HostDefaultData{
		Foreground: proto.ColorCyan, Background: proto.ColorBlue, Cursor: proto.Coordinates{X: 1, Y: 2}, WindowPosition: proto.Coordinates{X: 3},
		CursorSize: 50, Buffer: proto.Size{Width: 5, Height: 6}, Window: proto.Size{Width: 7, Height: 8}, Title: "new",
		MaxWindow: proto.Size{Width: 80, Height: 24}, MaxPhysicalWindow: proto.Size{Width: 80, Height: 24},
	}
	for p := host.PropertyForeground; p <= host.PropertyTitle; p++ {
		check(s.Raw.Set(ctx, p, want))
	}
	if got, err := s.Raw.State(ctx); err != nil || got != want {
		t.Errorf("State after every setter %+v, %v", got, err)
	}
	if got, err := s.Raw.KeyAvailable(ctx); err != nil || !got {
		t.Errorf("KeyAvailable %v, %v", got, err)
	}
	if got, err := s.Raw.ReadKey(ctx, proto.ReadKeyNoEcho); err != nil || got != key {
		t.Errorf("ReadKey %v, %v", got, err)
	}
	screen := s.Raw.Screen()
	check(screen.FlushInput(ctx))
	check(screen.Fill(ctx, proto.Rectangle{Right: 1}, cells[0][0]))
	check(screen.Put(ctx, proto.Coordinates{}, cells))
	check(screen.Scroll(ctx, proto.Rectangle{}, proto.Coordinates{}, proto.Rectangle{}, cells[0][0]))
	if got, err := screen.Cells(ctx, proto.Rectangle{}); err != nil || len(got) != 1 || !slices.Equal(got[0], cells[0]) {
		t.Errorf("Cells %v, %v", got, err)
	}
	check(s.Shell.SetShouldExit(ctx, 3))
	for _, b := range []bool{true, false} {
		check(s.Shell.Nested(ctx, b))
		check(s.Shell.NotifyApplication(ctx, b))
	}
	check(s.Shell.PopRunspace(ctx))
	if got, err := s.Shell.RunspacePushed(ctx); err != nil || !got {
		t.Errorf("RunspacePushed %v, %v", got, err)
	}
	if got := script.Written(); got != "abl\nERROR: l\nDEBUG: l\nVERBOSE: l\nWARNING: l\nc\nexit 3\n" {
		t.Errorf("written %q", got)
	}
	// What no typed call above makes: the five of Info, WriteLine1, and the two that cannot be
	// served.
	for m := proto.HostGetName; m <= proto.HostPromptForChoiceMultipleSelection; m++ {
		switch m {
		case proto.HostGetName, proto.HostGetVersion, proto.HostGetInstanceID, proto.HostGetCurrentCulture, proto.HostGetCurrentUICulture, proto.HostWriteLine1:
			if r := set.Serve(ctx, &proto.HostCall{Method: m}); r.Error != nil {
				t.Errorf("%v: %v", m, r.Error)
			}
		case proto.HostPushRunspace, proto.HostGetRunspace:
			if r := set.Serve(ctx, &proto.HostCall{Method: m}); r.Error == nil || r.Error.Category != proto.NotImplemented {
				t.Errorf("%v is answered %+v", m, r)
			}
		}
	}
}

func TestNullHostRefusesEveryMethod(t *testing.T) {
	var s host.Set
	if !s.HostInfo(t.Context()).Null {
		t.Error("the null host says that it is there")
	}
	for m := proto.HostMethod(0); m <= 60; m++ {
		r := s.Serve(t.Context(), &proto.HostCall{Method: m, CallID: 1})
		if m >= proto.HostGetName && m <= proto.HostGetCurrentUICulture {
			continue // its name and culture need no host
		}
		if r.Error == nil || r.Error.Category != proto.NotImplemented {
			t.Errorf("%v is answered %+v", m, r)
		}
	}
}

func TestMissingPartsAreToldAndRefused(t *testing.T) {
	s := host.NewScripted().Set()
	s.Raw = nil
	if h := s.HostInfo(t.Context()); h.Null || h.UINull || !h.RawUINull || h.Default != nil {
		t.Errorf("host info %+v", h)
	}
	if r := s.Serve(t.Context(), &proto.HostCall{Method: proto.HostReadKey, Params: []clixml.Value{clixml.Int32(1)}}); r.Error == nil {
		t.Error("ReadKey without a RawUI is answered")
	}
	if remote := host.Remote(wire{t, s}, s.HostInfo(t.Context())); remote.Raw != nil || remote.Console == nil {
		t.Errorf("the server sees %+v", remote)
	}
}

type panics struct{ host.Console }

func TestPanicAndBadParametersAreAnswered(t *testing.T) {
	s := host.Set{Console: panics{}}
	if r := s.Serve(t.Context(), &proto.HostCall{Method: proto.HostReadLine}); r.Error == nil {
		t.Error("a panic is no error")
	}
	s = host.NewScripted().Set()
	for _, params := range [][]clixml.Value{nil, {clixml.String("x")}, {clixml.Int64(1 << 40)}} {
		r := s.Serve(t.Context(), &proto.HostCall{Method: proto.HostSetShouldExit, Params: params})
		if r.Error == nil || r.Error.FullyQualifiedErrorID != "HostCallFailed" {
			t.Errorf("SetShouldExit%v is answered %+v", params, r)
		}
	}
}

func TestTerminalAsksAndWrites(t *testing.T) {
	var out strings.Builder
	s := host.Terminal(host.TerminalOptions{In: strings.NewReader("Ada\nq\nN\nline\n"), Out: &out, Color: true})
	ctx := t.Context()
	got, err := s.Prompter.Prompt(ctx, "Caption", "", []proto.FieldDescription{{Name: "Name"}})
	if x, _ := got["Name"].Text(); err != nil || x != "Ada" {
		t.Errorf("Prompt %v, %v", got, err)
	}
	choice, err := s.Prompter.Choose(ctx, host.ChoiceRequest{Choices: []proto.ChoiceDescription{{Label: "&Yes"}, {Label: "&No"}}})
	if err != nil || !slices.Equal(choice, []int32{1}) {
		t.Errorf("Choose %v, %v", choice, err)
	}
	if line, err := s.Console.ReadLine(ctx); err != nil || line != "line" {
		t.Errorf("ReadLine %q, %v", line, err)
	}
	if err := s.Console.WriteLine(ctx, host.LineWarning, "w", host.Style{}); err != nil {
		t.Error(err)
	}
	if want := "Caption\nName: [Y] Yes  [N] No  : [Y] Yes  [N] No  : \x1b[93mWARNING: w\x1b[0m\n"; out.String() != want {
		t.Errorf("written %q, want %q", out.String(), want)
	}
}

func TestTerminalNeverEchoesASecret(t *testing.T) {
	s := host.Terminal(host.TerminalOptions{In: strings.NewReader("secret\n")})
	if _, err := s.Console.ReadSecure(t.Context()); err == nil {
		t.Error("a secret was read without ReadPassword")
	}
	if _, err := s.Prompter.Credential(t.Context(), host.CredentialRequest{User: "u"}); err == nil {
		t.Error("a credential was read without ReadPassword")
	}
	s = host.Terminal(host.TerminalOptions{ReadPassword: func(context.Context) (string, error) { return "p", nil }})
	if got, err := s.Console.ReadSecure(t.Context()); err != nil {
		t.Error(err)
	} else if text, _ := got.Reveal(); text != "p" {
		t.Errorf("read %q", text)
	}
}

func TestTerminalIsNotDrivenByTheServer(t *testing.T) {
	for _, tt := range []struct {
		color    bool
		in, want string
	}{
		{false, "a\x1b[31mb\x1b[0m\x1b]0;title\x07c\r\x08\u009b2Jd\té\n", "ab0;titlec2Jd\té\n"},
		{true, "a\x1b[31mb\x1b[2J\x1b", "a\x1b[31mb"},
	} {
		var out strings.Builder
		s := host.Terminal(host.TerminalOptions{Out: &out, Color: tt.color})
		if err := s.Console.Write(t.Context(), tt.in, host.Style{}); err != nil {
			t.Fatal(err)
		}
		if out.String() != tt.want {
			t.Errorf("%q is written as %q, want %q", tt.in, out.String(), tt.want)
		}
	}
}

func TestReadLineGivenUpLeavesItsLineToTheNext(t *testing.T) {
	r := &gated{gate: make(chan struct{})}
	s := host.Terminal(host.TerminalOptions{In: r})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Console.ReadLine(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(r.gate)
	if line, err := s.Console.ReadLine(t.Context()); err != nil || line != "late" {
		t.Errorf("line %q, %v", line, err)
	}
}

type gated struct {
	gate chan struct{}
}

func (g *gated) Read(b []byte) (int, error) {
	<-g.gate
	return copy(b, "late\n"), nil
}
