package cli

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/report"
	"example.com/quire/bench/internal/saved"
)

// printRow writes a row as a table; with JSON wanted it goes to standard error.
func (a *App) printRow(r saved.Row, asJSON bool) {
	out := a.Out
	if asJSON {
		out = a.Err
	}
	_, _ = fmt.Fprintf(out, "\n%s: %s (%s v%d, seed %d)\n", r.FullName(), r.Title, r.Workload.Name, r.Workload.Version, r.Workload.Seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	server := r.Server != ""
	if server {
		_, _ = fmt.Fprintln(w, "  contestant\tcpu/request\t±\trequests/s\tp50\tp99\toutput\tpeak rss\tratio\tinterval\tverdict")
	} else {
		_, _ = fmt.Fprintln(w, "  contestant\tcpu/op\t±\ttime/op\tallocs\tbytes\toutput\tpeak rss\tratio\tinterval\tverdict")
	}
	for i, c := range r.Contestants {
		if c.State != saved.Timed {
			first, _, _ := strings.Cut(c.Error, "\n")
			_, _ = fmt.Fprintf(w, "  %s\t%s: %s%s\n", report.Label(c), c.State, first, install(c))
			continue
		}
		cells := report.Cells(r, c)
		ratio, interval, verdict := "", "", ""
		for _, k := range r.Comparisons {
			if k.With == c.Name && i > 0 {
				ratio, interval, verdict = report.Ratio(k.Ratio.Median), report.Interval(k.Ratio), string(k.Verdict)
			}
		}
		line := []string{report.Label(c), cells.CPU, cells.Spread, cells.Time, cells.Allocs, cells.Bytes, cells.Output, cells.RSS, ratio, interval, verdict}
		if server {
			line = []string{report.Label(c), cells.CPU, cells.Spread, cells.Rate, cells.P50, cells.P99, cells.Output, cells.RSS, ratio, interval, verdict}
		}
		_, _ = fmt.Fprintf(w, "  %s\n", strings.Join(line, "\t"))
	}
	_ = w.Flush()
	for _, g := range r.Goals {
		_, _ = fmt.Fprintf(out, "  goal: %s: %s\n", report.GoalText(g), report.GoalOutcome(g))
	}
	_, _ = fmt.Fprintf(out, "  %s\n", report.Quality(r))
}

func install(c saved.Contestant) string {
	if c.Install == "" {
		return ""
	}
	return " (" + c.Install + ")"
}

func (a *App) printComparing(c saved.Comparing) {
	for _, warning := range c.Warnings {
		a.printf("warning: %s\n", warning)
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "row\tcontestant\tmeasure\t%s\t%s\tchange\tinterval\tverdict\n", c.A, c.B)
	for _, ch := range c.Changes {
		was, is, change := report.Amount(ch.Measure, ch.Old), report.Amount(ch.Measure, ch.New), "new"
		if ch.Old > 0 {
			change = fmt.Sprintf("%+.1f %%", 100*(ch.Ratio.Median-1))
		}
		interval := ""
		if ch.Ratio.Lo != ch.Ratio.Hi && !math.IsNaN(ch.Ratio.Lo) {
			interval = fmt.Sprintf("%+.1f..%+.1f %%", 100*(ch.Ratio.Lo-1), 100*(ch.Ratio.Hi-1))
		}
		verdict := string(ch.Verdict)
		if ch.Note != "" {
			verdict += " (" + ch.Note + ")"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", ch.Row, ch.Contestant, ch.Measure, was, is, change, interval, verdict)
	}
	_ = w.Flush()
	for _, only := range c.OnlyA {
		a.printf("only in %s: %s\n", c.A, only)
	}
	for _, only := range c.OnlyB {
		a.printf("only in %s: %s\n", c.B, only)
	}
	a.printf("changes of time are relative to unchanged peers, or else to the control kernel, of the same rounds\n")
}

// liner shows progress: one line that rewrites itself on a terminal, and one
// line per stage elsewhere.
type liner struct {
	mu       sync.Mutex
	app      *App
	terminal bool
	prefix   string
	shown    bool
	last     string
	at       time.Time
}

func (a *App) progress() *liner {
	l := &liner{app: a}
	if f, isFile := a.Err.(*os.File); isFile {
		l.terminal = term.IsTerminal(int(f.Fd()))
	}
	return l
}

func (l *liner) show(p harness.Progress) {
	text := l.prefix + p.Row + ": " + p.Stage
	if !l.terminal {
		if text != l.last {
			l.app.sayf("%s\n", text)
			l.last = text
		}
		return
	}
	if p.Of > 0 {
		text += fmt.Sprintf(" round %d/%d", p.Round, p.Of)
	}
	if p.Detail != "" {
		text += "  " + p.Detail
	}
	if time.Since(l.at) < 100*time.Millisecond && p.Stage == l.last {
		return
	}
	l.at, l.last, l.shown = time.Now(), p.Stage, true
	l.app.sayf("\r\x1b[K%s", text)
}

// clear removes the line before something else is printed.
func (l *liner) clear() {
	if l.shown {
		l.app.sayf("\r\x1b[K")
		l.shown = false
	}
}

// say shows one stage of the gate.
func (l *liner) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.terminal {
		return
	}
	l.shown = true
	l.app.sayf("\r\x1b[K%s", text)
}
