package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"example.com/quire/bench/internal/machine"
	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

// Session measures rows one after another. It is not safe for concurrent use:
// two measurements at once would measure each other.
type Session struct {
	Exe     string // this program; contestants are started from it
	Root    string // the repository
	Options Options
	// Quire builds the program itself, once, for contestants that ask for it.
	Quire func(context.Context) (string, error)
	// Progress, when set, is told how a row comes along.
	Progress func(Progress)

	kernel *child
	order  *rand.Rand
}

// Progress is one step of a row.
type Progress struct {
	Row    string
	Stage  string // "waiting for a quiet machine", "checking", "measuring"
	Round  int
	Of     int // the most rounds that there can be
	Detail string
}

// Start pins the harness away from the contestants and starts the control
// kernel. Close ends what Start began.
func (s *Session) Start(ctx context.Context) error {
	s.order = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)) //nolint:gosec // only the order of contestants within a round
	full := FullName(controlSuite(), controlSuite().Rows[0])
	k, err := startChild(ctx, s.Exe, workerSpec{Row: full, Contestant: controlName}, s.core(), 1)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.kernel = k
	if _, err := k.open(ctx, nil); err != nil {
		return fmt.Errorf("session: control kernel: %w", err)
	}
	if err := k.calibrate(ctx, controlSuite().Rows[0], s.Options.Slice/2); err != nil {
		return fmt.Errorf("session: control kernel: %w", err)
	}
	return nil
}

// Close ends the control kernel.
func (s *Session) Close(ctx context.Context) {
	if s.kernel != nil {
		s.kernel.close(ctx)
		s.kernel = nil
	}
}

// core is where contestants run: the last one, away from the first, which
// handles most interrupts and holds the harness.
func (s *Session) core() int { return machine.Cores() - 1 }

// entrant is a contestant in a running row.
type entrant struct {
	contestant Contestant
	child      *child
	result     *saved.Contestant // nil for the control kernel
	kept       []timing          // of the rounds that count
	n, next    int               // of the child before a restart
}

func (e *entrant) close(ctx context.Context) {
	if e.child != nil {
		e.result.RSS = max(e.result.RSS, e.child.close(ctx))
		e.child = nil
	}
}

// Measure runs one row to its end. What a contestant does wrong is in the row;
// the error is for what keeps the harness itself from measuring.
func (s *Session) Measure(ctx context.Context, suite Suite, row Row) (saved.Row, error) {
	began := time.Now()
	out := saved.Row{
		Suite: suite.Name, Name: row.Name, Title: row.Title, Primary: string(row.primary()), Procs: row.procs(),
		Workload: saved.Workload{Name: row.Workload.Name, Version: row.Workload.Version, Seed: row.Workload.Seed, Text: row.Workload.Text},
	}
	if row.Load != nil {
		out.Server = row.Load.Text
	}
	full := FullName(suite, row)
	if err := s.settleDown(row); err != nil {
		return out, err
	}
	s.tell(Progress{Row: full, Stage: "checking"})
	entrants, twin, err := s.enter(ctx, full, row, &out)
	all := entrants
	if twin != nil {
		all = append(slices.Clip(all), twin)
	}
	closed := false
	closeAll := func() {
		if closed {
			return
		}
		closed = true
		for _, e := range all {
			e.close(ctx)
		}
	}
	defer closeAll()
	if err != nil {
		return out, err
	}
	if len(entrants) > 0 && !row.Once {
		s.waitForQuiet(ctx, full, row)
		if err := s.rounds(ctx, full, row, entrants, twin, &out); err != nil {
			return out, err
		}
		s.finish(ctx, entrants, twin, &out)
	}
	closeAll()
	Judge(row, &out)
	out.Quality.Seconds = time.Since(began).Seconds()
	return out, nil
}

// settleDown puts the harness where it disturbs least. Beside a server it is the
// load and has the other core. Otherwise it shares the contestants' core and
// sleeps while they run: a wake-up from another core takes long enough on a
// virtual machine to let the caches go cold, and the other core may be the
// second thread of the same one.
func (s *Session) settleDown(row Row) error {
	if machine.Cores() < 2 || row.procs() > 1 {
		return nil
	}
	core := s.core()
	if row.Load != nil {
		core = 0
	}
	if err := machine.PinSelf(core); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

func (s *Session) tell(p Progress) {
	if s.Progress != nil {
		s.Progress(p)
	}
}

// enter starts every contestant, has it checked, and calibrates those that pass.
// The twin is a second instance of the first contestant, for the A/A control.
func (s *Session) enter(ctx context.Context, full string, row Row, out *saved.Row) (in []*entrant, twin *entrant, err error) {
	out.Contestants = make([]saved.Contestant, len(row.Contestants))
	for i, c := range row.Contestants {
		res := &out.Contestants[i]
		*res = saved.Contestant{Name: c.Name, Version: versionOf(c.Module), Note: c.Note, Own: c.Own}
		for _, t := range c.Needs {
			if t.Missing() {
				res.State, res.Error, res.Install = saved.Absent, t.Name+" is not installed", t.Install
			}
		}
		if res.State == saved.Absent {
			continue
		}
		ready := s.ready
		if row.Once {
			ready = s.single
		}
		e, err := ready(ctx, full, row, c, res)
		if err != nil {
			if ctx.Err() != nil {
				return in, twin, fmt.Errorf("%s: %w", full, context.Cause(ctx))
			}
			res.State, res.Error = saved.Failing, err.Error()
			continue
		}
		res.State = saved.Timed
		in = append(in, e)
		if i == 0 && !row.Once {
			twin, err = s.ready(ctx, full, row, c, &saved.Contestant{Name: c.Name})
			if err != nil {
				return in, nil, fmt.Errorf("%s: second instance of %s: %w", full, c.Name, err)
			}
			twin.child.n = e.child.n // the same work in the same turns
		}
	}
	return in, twin, nil
}

// launch starts a contestant's process.
func (s *Session) launch(ctx context.Context, full string, row Row, c Contestant) (*child, error) {
	spec := workerSpec{Row: full, Contestant: c.Name, Env: Env{Root: s.Root}}
	if c.Quire {
		if s.Quire == nil {
			return nil, errors.New("this session has no program to measure")
		}
		path, err := s.Quire(ctx)
		if err != nil {
			return nil, fmt.Errorf("build the program: %w", err)
		}
		spec.Env.Quire = path
	}
	return startChild(ctx, s.Exe, spec, s.core(), row.procs())
}

// ready starts a contestant, has its output checked, and calibrates it.
func (s *Session) ready(ctx context.Context, full string, row Row, c Contestant, res *saved.Contestant) (*entrant, error) {
	ch, err := s.launch(ctx, full, row, c)
	if err != nil {
		return nil, err
	}
	facts, err := ch.open(ctx, row.Load)
	if err == nil {
		err = ch.calibrate(ctx, row, s.Options.Slice)
	}
	if err == nil && row.Load == nil {
		var r reply
		r, err = ch.order(ctx, order{Do: "count", First: ch.next, N: ch.n})
		res.Allocs, res.Bytes, res.Counted = r.Allocs, r.Bytes, true
	}
	if err != nil {
		ch.close(ctx)
		return nil, err
	}
	res.Output = facts.OutputBytes
	if facts.Note != "" {
		res.Note = facts.Note
	}
	return &entrant{contestant: c, child: ch, result: res}, nil
}

// single has a contestant do its one operation, each time in a process that ends with it.
func (s *Session) single(ctx context.Context, full string, row Row, c Contestant, res *saved.Contestant) (*entrant, error) {
	e := &entrant{contestant: c, result: res}
	var times []timing
	for range max(row.Times, 1) {
		t, err := s.once(ctx, full, row, e)
		if err != nil {
			return nil, err
		}
		times = append(times, t)
	}
	slices.SortFunc(times, func(a, b timing) int { return cmp.Compare(a.wall, b.wall) })
	t := times[len(times)/2]
	res.CPU, res.Time = []float64{t.cpu}, []float64{t.wall}
	return e, nil
}

func (s *Session) once(ctx context.Context, full string, row Row, e *entrant) (timing, error) {
	s.waitForQuiet(ctx, full, row)
	var err error
	if e.child, err = s.launch(ctx, full, row, e.contestant); err != nil {
		return timing{}, err
	}
	defer e.close(ctx)
	if _, err := e.child.order(ctx, order{Do: "open"}); err != nil {
		return timing{}, err
	}
	s.tell(Progress{Row: full, Stage: "measuring", Detail: e.contestant.Name})
	e.child.n = 1
	return e.child.sample(ctx, true)
}

// waitForQuiet gives a busy machine some time; rounds are judged one by one
// afterwards in any case.
func (s *Session) waitForQuiet(ctx context.Context, full string, row Row) {
	deadline := time.Now().Add(s.Options.Wait)
	for {
		load := machine.Read().Load
		if load < float64(ownCores(row))+0.5 || time.Now().After(deadline) {
			return
		}
		s.tell(Progress{Row: full, Stage: "waiting for a quiet machine", Detail: fmt.Sprintf("load average %.1f", load)})
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// ownCores is how many cores the measurement keeps busy by itself.
func ownCores(row Row) int {
	if row.Load != nil {
		return 2
	}
	return row.procs()
}

// loss is a contestant that went wrong while the row was being measured.
type loss struct {
	who *entrant
	err error
}

func (l *loss) Error() string { return l.err.Error() }

func (l *loss) Unwrap() error { return l.err }

// rounds measures until everything that the row is asked is settled, or time or
// rounds run out. A round made on a busy machine is thrown away and repeated as
// long as there is time; if too few clean ones come together the dirty ones are
// kept and the row says so.
func (s *Session) rounds(ctx context.Context, full string, row Row, entrants []*entrant, twin *entrant, out *saved.Row) error {
	var dirty [][]timing
	contestants := slices.Clone(entrants)
	if twin != nil {
		contestants = append(contestants, twin)
	}
	kernel := &entrant{child: s.kernel}
	runners := append(slices.Clone(contestants), kernel)
	// drop reports a contestant that went wrong as failing and goes on without
	// it; without the subject or its twin there is nothing to go on with.
	errOver := errors.New("the subject is failing")
	drop := func(err error) error {
		var l *loss
		if ctx.Err() != nil || !errors.As(err, &l) || l.who == kernel {
			return err
		}
		at := slices.Index(runners, l.who)
		if l.who == twin || len(entrants) > 0 && l.who == entrants[0] {
			entrants[0].result.State, entrants[0].result.Error = saved.Failing, err.Error()
			entrants[0].kept = nil
			return errOver
		}
		l.who.result.State, l.who.result.Error = saved.Failing, err.Error()
		l.who.kept = nil
		contestants = slices.Delete(contestants, at, at+1)
		runners = slices.Delete(runners, at, at+1)
		for i := range dirty {
			dirty[i] = slices.Delete(dirty[i], at, at+1)
		}
		return nil
	}

	o := s.Options
	if row.Rounds > 0 {
		o.MinRounds, o.MaxRounds = min(o.MinRounds, row.Rounds), min(o.MaxRounds, row.Rounds)
	}
	deadline := time.Now().Add(o.Budget)
	began := machine.Read()
	clean := 0
	for done := 0; clean < o.MaxRounds && done < 3*o.MaxRounds; done++ {
		late := time.Now().After(deadline)
		if clean >= o.MinRounds && (late || s.settled(row, out, entrants, twin)) || late && done >= o.MinRounds {
			break
		}
		if done > 0 {
			if err := s.restart(ctx, full, row, contestants); err != nil {
				if err = drop(err); errors.Is(err, errOver) {
					break
				} else if err != nil {
					return err
				}
				continue
			}
		}
		values, why, load, err := s.round(ctx, row, runners)
		if err != nil {
			if err = drop(err); errors.Is(err, errOver) {
				break
			} else if err != nil {
				return err
			}
			continue
		}
		s.adjust(row, runners, values)
		out.Quality.Load = max(out.Quality.Load, load)
		if why != "" {
			dirty = append(dirty, values)
			out.Quality.Why = why
		} else {
			keep(runners, values)
			clean++
		}
		s.tell(Progress{Row: full, Stage: "measuring", Round: clean, Of: o.MaxRounds, Detail: s.glimpse(out, entrants, len(dirty))})
	}
	out.Quality.Repeated = len(dirty)
	if clean < o.MinRounds && len(dirty) > 0 {
		for _, values := range dirty {
			keep(runners, values)
		}
		out.Quality.Dirty, out.Quality.Repeated = len(dirty), 0
	}
	out.Quality.Rounds = clean + out.Quality.Dirty
	ended := machine.Read()
	if length := ended.At.Sub(began.At); length > 0 && ended.Known {
		out.Quality.Steal = float64(ended.Steal-began.Steal) / float64(length)
	}
	for _, t := range kernel.kept {
		out.Kernel = append(out.Kernel, t.cpu)
	}
	publish(contestants)
	return nil
}

// restart puts every contestant into a new process, in a random order: a process
// that has just started runs a little otherwise than one that has waited. Inputs
// go on where the old process's ended.
func (s *Session) restart(ctx context.Context, full string, row Row, contestants []*entrant) error {
	for _, k := range s.order.Perm(len(contestants)) {
		e := contestants[k]
		if e.child != nil {
			e.n, e.next = e.child.n, e.child.next
			e.close(ctx)
		}
		ch, err := s.launch(ctx, full, row, e.contestant)
		if err != nil {
			return &loss{e, fmt.Errorf("start again: %w", err)}
		}
		e.child = ch
		if _, err := ch.open(ctx, row.Load); err != nil {
			return &loss{e, fmt.Errorf("start again: %w", err)}
		}
		ch.n, ch.next = e.n, e.next
		// A few turns that do not count warm it up; a long one does so by itself.
		const turns, long = 3, 250 * time.Millisecond
		for turn, began := 0, time.Now(); turn < turns && (turn == 0 || time.Since(began) < long); turn++ {
			if _, err := ch.sample(ctx, false); err != nil {
				return &loss{e, fmt.Errorf("warm up: %w", err)}
			}
		}
	}
	return nil
}

// round lets every runner take its turns, in a new random order in each lap. Turns that are so long
// that the rounds would outlast the time of the row are fewer.
func (s *Session) round(ctx context.Context, row Row, runners []*entrant) (values []timing, why string, load float64, err error) {
	own := func() time.Duration {
		sum := machine.OwnCPU()
		for _, r := range runners {
			sum += r.child.cpu()
		}
		return sum
	}
	values = make([]timing, len(runners))
	laps := s.Options.Laps
	if row.Load != nil {
		laps = 1
	}
	from, ownFrom := machine.Read(), own()
	share := s.Options.Budget / time.Duration(max(1, s.Options.MinRounds))
	done := 0
	for ; done < laps && (done == 0 || time.Since(from.At) < share); done++ {
		for _, k := range s.order.Perm(len(runners)) {
			t, err := runners[k].child.sample(ctx, done == 0)
			if err != nil {
				return nil, "", 0, &loss{runners[k], err}
			}
			values[k].add(t)
		}
	}
	for k := range values {
		values[k].divide(done)
	}
	w := machine.Between(from, machine.Read(), own()-ownFrom)
	return values, w.Dirty(ownCores(row)), w.Load, nil
}

// adjust steers the turns towards their length, half of the way after each round.
// On a busy machine a longer turn costs more per operation, because it is
// interrupted more often: contestants must have equal ones, and how many
// operations that takes is known better with every round.
func (s *Session) adjust(row Row, runners []*entrant, values []timing) {
	if row.Load != nil || row.Batch > 0 {
		return
	}
	for i, r := range runners {
		cost := values[i].cpu
		if cost <= 0 || row.procs() > 1 {
			cost = values[i].wall
		}
		if r.result == nil || cost <= 0 {
			continue
		}
		n := float64(r.child.n)
		change := math.Sqrt(float64(s.Options.Slice) / (cost * n))
		r.child.n = max(1, int(math.Round(n*min(1.25, max(0.8, change)))))
	}
}

// add adds a turn to the others of its round, and divide makes their mean.
func (t *timing) add(u timing) {
	*t = timing{cpu: t.cpu + u.cpu, wall: t.wall + u.wall, p50: t.p50 + u.p50, p99: t.p99 + u.p99}
}

func (t *timing) divide(turns int) {
	n := float64(turns)
	*t = timing{cpu: t.cpu / n, wall: t.wall / n, p50: t.p50 / n, p99: t.p99 / n}
}

func keep(runners []*entrant, values []timing) {
	for i, r := range runners {
		r.kept = append(r.kept, values[i])
	}
}

// publish moves the kept timings into the saved row.
func publish(runners []*entrant) {
	for _, r := range runners {
		if r.result == nil {
			continue
		}
		c := r.result
		c.CPU, c.Time, c.P50, c.P99 = nil, nil, nil, nil
		if c.State == saved.Failing {
			continue
		}
		for _, t := range r.kept {
			if t.cpu > 0 {
				c.CPU = append(c.CPU, t.cpu)
			}
			c.Time = append(c.Time, t.wall)
			if t.p50 > 0 {
				c.P50, c.P99 = append(c.P50, t.p50), append(c.P99, t.p99)
			}
		}
	}
}

// settled reports whether more rounds could not change what the row says.
func (s *Session) settled(row Row, out *saved.Row, entrants []*entrant, twin *entrant) bool {
	s.publishAll(entrants, twin)
	trial := *out
	trial.AA = controlRatio(row, entrants, twin)
	if trial.AA != nil && trial.AA.Floor() > stat.Band && !trial.AA.Settled() {
		return false
	}
	Judge(row, &trial)
	for _, c := range trial.Comparisons {
		if !c.Ratio.Settled() {
			return false
		}
	}
	for _, g := range trial.Goals {
		if g.State == saved.Near {
			return false
		}
	}
	return true
}

func (s *Session) publishAll(entrants []*entrant, twin *entrant) {
	publish(entrants)
	if twin != nil {
		publish([]*entrant{twin})
	}
}

// controlRatio is the subject beside its own second instance; nil when the
// subject is not timed.
func controlRatio(row Row, entrants []*entrant, twin *entrant) *stat.Ratio {
	if twin == nil || len(entrants) == 0 {
		return nil
	}
	m := string(row.primary())
	r := stat.Paired(entrants[0].result.Series(m), twin.result.Series(m))
	return &r
}

// finish checks every contestant once more: what went wrong under load counts
// as failing, its timings as nothing.
func (s *Session) finish(ctx context.Context, entrants []*entrant, twin *entrant, out *saved.Row) {
	for _, e := range entrants {
		if e.child == nil || e.result.State != saved.Timed {
			continue
		}
		if _, err := e.child.check(ctx); err != nil {
			c := e.result
			c.State, c.Error = saved.Failing, "after the timing: "+err.Error()
			c.CPU, c.Time, c.P50, c.P99 = nil, nil, nil, nil
		}
	}
	if twin != nil && len(entrants) > 0 && entrants[0].result.State == saved.Timed {
		m := out.Primary
		r := stat.Paired(entrants[0].result.Series(m), twin.result.Series(m))
		out.AA = &r
	}
}

// glimpse is the ratio to the first peer so far, for the progress line.
func (s *Session) glimpse(out *saved.Row, entrants []*entrant, dirty int) string {
	text := ""
	if len(entrants) > 1 && len(entrants[0].kept) >= 3 && len(entrants[1].kept) >= 3 {
		publish(entrants[:2])
		m := out.Primary
		r := stat.Paired(entrants[0].result.Series(m), entrants[1].result.Series(m))
		text = fmt.Sprintf("%.3f x %s [%.3f..%.3f]", r.Median, entrants[1].result.Name, r.Lo, r.Hi)
	}
	if dirty > 0 {
		text += fmt.Sprintf(" (%d dirty)", dirty)
	}
	return text
}

// versionOf reads the version of a module from this program's build record.
func versionOf(module string) string {
	if module == "" {
		return ""
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}

// Executable returns the path of this program.
func Executable() (string, error) {
	p, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return p, nil
}
