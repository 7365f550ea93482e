package tap_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/internal/conformance"
	"example.com/quire/psrp/oop"
	"example.com/quire/psrp/proto"
	"example.com/quire/psrp/tap"
)

func transcript(t *testing.T, name string) []byte {
	t.Helper()
	b, err := conformance.ReadFile("testdata/real/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSessionRunsAgainstARecordedServer(t *testing.T) {
	all, err := conformance.Transcripts("testdata/real")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"streams": 13, "errors": 10, "large": 2000, "dictionaries": 5, "references": 5} {
		t.Run(name, func(t *testing.T) {
			var pipelines []*proto.CreatePipeline
			for _, tr := range all {
				if tr.Name != name {
					continue
				}
				steps, err := tr.Steps()
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range steps {
					for _, m := range s.Messages {
						if m.Header.Type == proto.MessageCreatePipeline {
							p, err := proto.DecodeMessage(m.Header.Type, m.Body, conformance.ClearDecoder())
							if err != nil {
								t.Fatal(err)
							}
							pipelines = append(pipelines, p.(*proto.CreatePipeline))
						}
					}
				}
			}
			played, err := tap.Replay(bytes.NewReader(transcript(t, name)), tap.Server)
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			conn := oop.NewConn(tap.Record(played, &again, tap.Client), oop.Client, oop.Options{Confidential: true})
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			s, err := psrp.Open(ctx, conn, psrp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			records := 0
			for i, p := range pipelines {
				if p.Pipeline.Input {
					continue // its input is not known here: the machines' replay has it
				}
				res, err := s.Run(ctx, psrp.Pipeline{Pipeline: p.Pipeline})
				if e, failed := errors.AsType[*psrp.PipelineError](err); err != nil && !failed {
					t.Fatalf("pipeline %d: %v (%v)", i, err, e)
				}
				records += len(res.Records)
			}
			if records < want {
				t.Errorf("%d records of %d pipelines", records, len(pipelines))
			}
			if err := s.Close(ctx); err != nil {
				t.Errorf("Close: %v", err)
			}
			if _, err := tap.Replay(&again, tap.Client); err != nil {
				t.Errorf("what was recorded of it: %v", err)
			}
		})
	}
}

func TestTapAddsNoByteAndRecordsEachLine(t *testing.T) {
	a, b := net.Pipe()
	var log bytes.Buffer
	tapped := tap.Record(a, &log, tap.Client)
	go func() {
		buf := make([]byte, 64)
		_, _ = io.ReadFull(b, buf[:12])
		_, _ = b.Write([]byte("an\"swer\\ "))
		_, _ = b.Write([]byte("\U0001F600\ncut"))
		_ = b.Close()
	}()
	if _, err := tapped.Write([]byte("hello\nworld\n")); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(tapped)
	if string(got) != "an\"swer\\ \U0001F600\ncut" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := tapped.Close(); err != nil {
		t.Error(err)
	}
	var lines []string
	for line := range bytes.Lines(log.Bytes()) {
		var rec struct {
			N    int    `json:"n"`
			Dir  string `json:"dir"`
			Line string `json:"line"`
		}
		if err := json.Unmarshal(line, &rec); err != nil || rec.N != len(lines) {
			t.Errorf("%s: %v", line, err)
		}
		lines = append(lines, rec.Dir+" "+rec.Line)
	}
	if want := "c2s hello|c2s world|s2c an\"swer\\ \U0001F600|eof s2c"; strings.Join(lines, "|") != want {
		t.Errorf("recorded %q, want %q", lines, want)
	}
	if bytes.ContainsFunc(log.Bytes(), func(r rune) bool { return r > 0x7E }) {
		t.Errorf("not ASCII: %s", log.Bytes())
	}
}

func TestTranscriptThatACrashCutShortIsReplayed(t *testing.T) {
	b := transcript(t, "open-close")
	p, err := tap.Replay(bytes.NewReader(b[:len(b)-10]), tap.Client)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	if n, err := p.Read(buf); err != nil || !strings.HasPrefix(string(buf[:n]), "<Data Stream='Default") {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := tap.Replay(strings.NewReader("nonsense\n{}\n"), tap.Server); err == nil {
		t.Error("nonsense is a transcript")
	}
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"n": 1, "t_us": 5, "dir": "s2c", "line": "<DataAck PSGuid='00000000-0000-0000-0000-000000000000' />"}` + "\n"))
	f.Add([]byte(`{"n": 1, "dir": "c2s", "line": "x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, side := range []tap.Side{tap.Client, tap.Server} {
			p, err := tap.Replay(bytes.NewReader(b), side)
			if err != nil {
				continue
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}
