package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Line is one line of a transcript.
type Line struct {
	N         int             `json:"n"`
	Time      int64           `json:"t_us"`
	Direction string          `json:"dir"` // c2s, s2c, err, eof, exit
	Raw       json.RawMessage `json:"line"`
	Text      string          `json:"-"` // of c2s, s2c, err and eof
}

// Meta is the head of a transcript.
type Meta struct {
	Scenario string `json:"scenario"`
	Client   string `json:"client"`
	Server   string `json:"server"`
	Mode     string `json:"mode"`
}

// Transcript is a recorded conversation.
type Transcript struct {
	Name  string
	Meta  Meta
	Lines []Line
	// Printed is what the real client printed.
	Printed string
}

// Transcripts reads every NAME.jsonl and NAME.jsonl.gz of the folders. None at all is an error.
func Transcripts(folders ...string) ([]Transcript, error) {
	var all []Transcript
	for _, dir := range folders {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, f := range files {
			t, err := readTranscript(f)
			if err != nil {
				return nil, fmt.Errorf("transcript %s: %w", f, err)
			}
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no transcript in %q", folders)
	}
	return all, nil
}

func readTranscript(file string) (Transcript, error) {
	base := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".jsonl")
	t := Transcript{Name: filepath.Base(base)}
	b, err := ReadFile(file)
	if err != nil {
		return t, err
	}
	for line := range bytes.Lines(b) {
		var l Line
		if err := json.Unmarshal(line, &l); err != nil {
			return t, err
		}
		if l.Direction == "meta" {
			if err := json.Unmarshal(l.Raw, &t.Meta); err != nil {
				return t, err
			}
			continue
		}
		if l.Direction != "exit" {
			if err := json.Unmarshal(l.Raw, &l.Text); err != nil {
				return t, fmt.Errorf("line %d: %w", l.N, err)
			}
		}
		t.Lines = append(t.Lines, l)
	}
	for _, ext := range []string{".client.txt", ".client.txt.gz"} {
		if b, err := ReadFile(base + ext); err == nil {
			t.Printed = string(b)
		}
	}
	return t, nil
}

// ReadFile reads a file, unpacked when its name ends in .gz.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(r, 256<<20))
}

// Folders are where the recordings lie: the tests' own, and that of PSRP_TRANSCRIPTS.
func Folders(own string) []string {
	folders := []string{own}
	if more := os.Getenv("PSRP_TRANSCRIPTS"); more != "" {
		folders = append(folders, more)
	}
	return folders
}
