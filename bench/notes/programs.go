package notes

import (
	"bufio"
	"context"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/go-fonts/liberation/liberationsansbold"
	"github.com/go-fonts/liberation/liberationsansregular"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/workload"
)

//go:embed programs/*.py
var programs embed.FS

// python is where tools/install-bench-peers puts the libraries of the programs.
var python = harness.Tool{Name: ".tools/pdfpeers/bin/python", Install: "tools/install-bench-peers", Version: []string{"--version"}}

// programRows have libraries of other languages, each in a process that goes on from note to note.
// Their processes are waited for, so the measure is time.
func programRows() []harness.Row {
	rows := make([]harness.Row, 0, 2)
	for _, k := range []workload.NoteKind{workload.Retail, workload.HFT} {
		r := harness.Row{
			Name: k.String() + "-programs", Title: title(k) + ", plain, beside programs of other languages", Workload: work(k), Batch: batch(k), Primary: harness.Time,
			Contestants: []harness.Contestant{own("quire", plain, quire(k, plain))},
		}
		if r.Rounds = 8; k == workload.HFT {
			r.Rounds, r.Batch, r.Once = 0, 0, true // WeasyPrint takes half a minute
		}
		for _, p := range []struct {
			name, script string
			times        float64
		}{{"Typst", "typst_note.py", 20}, {"ReportLab", "reportlab_note.py", 30}, {"WeasyPrint", "weasyprint_note.py", 100}} {
			r.Contestants = append(r.Contestants, harness.Contestant{
				Name: p.name, Needs: append(tools(), python), Open: startProgram(k, p.script),
				Note: "Liberation Sans embedded, over a pipe; amounts by Python",
			})
			r.Goals = append(r.Goals, harness.Goal{Against: p.name, AtMost: 1 / p.times})
		}
		rows = append(rows, r)
	}
	return rows
}

// program is a running script.
type program struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	buf []byte
}

// startProgram starts a script in the contestant's folder, beside the fonts that it embeds.
func startProgram(k workload.NoteKind, script string) opener {
	return func(ctx context.Context, env harness.Env) (harness.Subject, error) {
		files, err := programs.ReadDir("programs")
		if err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		write := func(name string, b []byte) {
			if err == nil {
				err = os.WriteFile(filepath.Join(env.Dir, name), b, 0o600)
			}
		}
		for _, f := range files {
			b, readErr := programs.ReadFile("programs/" + f.Name())
			write(f.Name(), b)
			err = errors.Join(err, readErr)
		}
		write("text.ttf", liberationsansregular.TTF)
		write("bold.ttf", liberationsansbold.TTF)
		if err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		command, err := filepath.Abs(python.Name)
		if err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		p := &program{cmd: exec.CommandContext(ctx, command, script, "text.ttf", "bold.ttf")} //nolint:gosec // our own script
		p.cmd.Dir, p.cmd.Stderr = env.Dir, os.Stderr
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		p.out = bufio.NewReaderSize(out, 1<<16)
		if err := p.cmd.Start(); err != nil {
			return nil, fmt.Errorf("programs: %w", err)
		}
		version, err := p.answer()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s does not start: %w", script, err), p.close())
		}
		name := string(version)
		ops := documents(ctx, k, func(_ context.Context, in *input) error { return p.produce(in) })
		ops.Verify = func(_ int, in *input) (harness.Facts, error) {
			_, err := checkWords(ctx, in)
			return harness.Facts{OutputBytes: int64(in.out.Len()), Note: name}, err
		}
		ops.Checks, ops.End = 1, sync.OnceValue(p.close)
		return ops, nil
	}
}

// produce has the program make a note.
func (p *program) produce(in *input) error {
	line, err := json.Marshal(struct {
		Kind string          `json:"kind"`
		Note json.RawMessage `json:"note"`
	}{in.kind.String(), in.data})
	if err != nil {
		return fmt.Errorf("note: %w", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("program: %w", err)
	}
	b, err := p.answer()
	if err != nil {
		return err
	}
	_, err = in.out.Write(b)
	return err
}

// answer reads a length and as many bytes, which are valid until the next.
func (p *program) answer() ([]byte, error) {
	var length [8]byte
	if _, err := io.ReadFull(p.out, length[:]); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	n := binary.BigEndian.Uint64(length[:])
	const most = 64 << 20
	if n > most {
		return nil, fmt.Errorf("program: an answer of %d bytes", n)
	}
	if uint64(cap(p.buf)) < n {
		p.buf = make([]byte, n)
	}
	p.buf = p.buf[:n]
	if _, err := io.ReadFull(p.out, p.buf); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return p.buf, nil
}

func (p *program) close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }
