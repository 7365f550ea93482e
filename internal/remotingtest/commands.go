package remotingtest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
)

type judgedArgs struct {
	Text  string `psrp:"Text,mandatory,position=0,alias=T"`
	Count int    `psrp:"Count,default=1,position=1"`
	Force bool
	Names []string
}

type judgedThing struct {
	_    struct{} `clixml:",type=Quire.Thing"`
	Name string
	Size int
}

func (judgedThing) String() string { return "Thing" }

// Commands has commands for everything that a client of others can check.
func Commands() *psrp.Registry {
	r := &psrp.Registry{}
	add := func(name string, fn func(ctx context.Context, c *psrp.Call) error) {
		psrp.Add(r, psrp.CommandInfo{Name: name}, func(ctx context.Context, _ struct{}, c *psrp.Call) error { return fn(ctx, c) })
	}
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Args"}, func(_ context.Context, a judgedArgs, c *psrp.Call) error {
		return c.Output(fmt.Sprintf("%s|%d|%v|%s", a.Text, a.Count, a.Force, strings.Join(a.Names, "+")))
	})
	add("Stop-Badly", func(context.Context, *psrp.Call) error { panic("on purpose") })
	add("Stop-Told", func(context.Context, *psrp.Call) error {
		return proto.NewErrorRecord("Told", proto.InvalidOperation, "told")
	})
	add("Get-Types", func(_ context.Context, c *psrp.Call) error {
		dec, err := clixml.ParseDecimal("1.50")
		if err != nil {
			return err
		}
		for _, v := range []any{
			"text", clixml.Char('é'), true, uint8(255), int8(-128), int32(-2147483648), uint64(18446744073709551615), 1.5, dec,
			[]byte{0, 1},
			clixml.GUID{0xab, 15: 1},
			clixml.Version{1, 2, 3, 4},
			time.Date(2026, 11, 21, 15, 9, 28, 0, time.UTC), 95 * time.Second, nil,
			[]any{1, "a"},
			map[string]int{"k": 1},
			judgedThing{Name: "Thing", Size: 7},
		} {
			if err := c.Output(v); err != nil {
				return err
			}
		}
		return nil
	})
	add("Write-All", func(_ context.Context, c *psrp.Call) error {
		p := proto.NewProgress(1, "a", "s")
		p.PercentComplete = 50
		return errors.Join(c.Output("o"), c.Error(proto.NewErrorRecord("Bad", proto.InvalidData, "e")), c.Warning("w"), c.Verbose("v"),
			c.Debug("d"), c.Progress(p), c.Information("i", "tag"), c.Information("h", "PSHOST"))
	})
	add("Copy-Input", func(_ context.Context, c *psrp.Call) error {
		for v, err := range psrp.Input[clixml.Value](c) {
			if err != nil {
				return err
			}
			if err := c.Output(v); err != nil {
				return err
			}
		}
		return nil
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Big"}, func(_ context.Context, a struct{ Size int }, c *psrp.Call) error {
		return c.Output(strings.Repeat("x", a.Size))
	})
	add("Wait-Forever", func(ctx context.Context, _ *psrp.Call) error {
		<-ctx.Done()
		return ctx.Err()
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Secret"}, func(_ context.Context, a struct{ Secret *clixml.SecureString }, c *psrp.Call) error {
		return c.Output(a.Secret)
	})
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Login"}, func(_ context.Context, a struct{ Login clixml.Credential }, c *psrp.Call) error {
		password, _ := a.Login.Password.Reveal()
		return errors.Join(c.Output(a.Login.User+" "+password), c.Output(a.Login))
	})
	add("Read-User", readUser)
	add("Use-Screen", useScreen)
	return r
}

// readUser asks in every way and says what it was told.
func readUser(ctx context.Context, c *psrp.Call) error {
	h := c.Host()
	line, err := h.Console.ReadLine(ctx)
	if err != nil {
		return err
	}
	secret, err := h.Console.ReadSecure(ctx)
	if err != nil {
		return err
	}
	text, _ := secret.Reveal()
	fields, err := h.Prompter.Prompt(ctx, "Who", "are you", []proto.FieldDescription{{Name: "name", Label: "name", TypeName: "String", TypeFullName: "System.String"}})
	if err != nil {
		return err
	}
	choice, err := h.Prompter.Choose(ctx, host.ChoiceRequest{Caption: "c", Message: "m", Choices: []proto.ChoiceDescription{{Label: "a"}, {Label: "b"}}})
	if err != nil {
		return err
	}
	cred, err := h.Prompter.Credential(ctx, host.CredentialRequest{Caption: "c", Message: "m", User: "u", Target: "t"})
	if err != nil {
		return err
	}
	password, _ := cred.Password.Reveal()
	return errors.Join(c.Output("line "+line), c.Output("secret "+text), c.Output("field "+fields["name"].String()),
		c.Output(fmt.Sprint("choice ", choice[0])), c.Output("user "+cred.User+" "+password))
}

// useScreen reads and changes the client's console.
func useScreen(ctx context.Context, c *psrp.Call) error {
	h := c.Host()
	state, err := h.Raw.State(ctx)
	if err != nil {
		return err
	}
	if err := c.Output(fmt.Sprint(state.Title, " ", state.Buffer.Width, "x", state.Buffer.Height)); err != nil {
		return err
	}
	state.Title, state.Cursor = "ours", proto.Coordinates{X: 3, Y: 4}
	if err := errors.Join(h.Raw.Set(ctx, host.PropertyTitle, state), h.Raw.Set(ctx, host.PropertyCursor, state)); err != nil {
		return err
	}
	key, err := h.Raw.ReadKey(ctx, proto.ReadKeyNoEcho|proto.ReadKeyIncludeKeyDown)
	if err != nil {
		return err
	}
	cells, err := h.Raw.Screen().Cells(ctx, proto.Rectangle{Right: 1})
	if err != nil {
		return err
	}
	return errors.Join(c.Output(fmt.Sprintf("key %c, %d", rune(key.Char), key.VirtualKeyCode)), c.Output(fmt.Sprintf("cells %c%c", rune(cells[0][0].Char), rune(cells[0][1].Char))),
		h.Console.Write(ctx, "red", host.Style{Colored: true, Foreground: proto.ColorRed, Background: proto.ColorBlack}), h.Shell.SetShouldExit(ctx, 3))
}

//go:embed pypsrp_client.py
var clientScript []byte

// Scenarios are what PyPSRP does.
type Scenarios string

// The sets of scenarios.
const (
	ScenariosOfCommands Scenarios = "all"     // with a server of Commands
	ScenariosOfSamples  Scenarios = "samples" // with `quire ps serve`
	ScenarioOfAnEnd     Scenarios = "gone"    // with a server of Commands: the client dies while Wait-Forever runs
)

// PyPSRP has pypsrp, a client of others, use a server; each of its answers is a subtest. args are
// `process EXECUTABLE ARGUMENT...`, `pipe PATH` or `ssh HOST PORT USER KEYFILE KNOWNHOSTS`.
func PyPSRP(t *testing.T, what Scenarios, env []string, args ...string) {
	t.Helper()
	script := scriptFile(t, clientScript)
	cmd := exec.CommandContext(t.Context(), Python(t), append([]string{script}, args...)...) //nolint:gosec // G204: the judge's interpreter
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "SCENARIOS="+string(what)), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("pypsrp: %v\n%s", err, stderr.String())
	}
	passed := 0
	for scan := bufio.NewScanner(strings.NewReader(string(out))); scan.Scan(); passed++ {
		verdict, rest, _ := strings.Cut(scan.Text(), " ")
		name, why, _ := strings.Cut(rest, " ")
		t.Run(name, func(t *testing.T) {
			if verdict != "ok" {
				t.Error(why)
			}
		})
	}
	if t.Failed() {
		t.Log(stderr.String())
	}
	if least := map[Scenarios]int{ScenariosOfCommands: 20, ScenariosOfSamples: 4, ScenarioOfAnEnd: 1}[what]; passed < least {
		t.Errorf("pypsrp said %d things, want %d at least:\n%s", passed, least, out)
	}
}
