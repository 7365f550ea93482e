package report

// method is the part of docs/benchmarks/README.md that does not come from runs.
const method = `# Benchmarks

These pages are generated from runs that are kept in ` + "`bench/kept/`" + `. No figure is
typed by hand, here or anywhere else in the documentation.

## Commands

| command | does |
|---|---|
| ` + "`make bench RUN='path'`" + ` | measures the rows whose suite/row matches the expression; an interrupted run goes on where it ended |
| ` + "`make bench-save NAME=x`" + ` | measures longer and keeps the run under bench/results/ (default name: time and commit) |
| ` + "`make bench-compare A=x B=y`" + ` | old, new, change and verdict of two saved runs |
| ` + "`make bench-report NAME=x`" + ` | moves a saved run's suites into bench/kept/ and writes these pages; without a name it only writes them anew |
| ` + "`make bench-selfcheck`" + ` | shows that a kernel slowed by 10 % is called slower and that ten runs of a kernel beside itself are called no difference |
| ` + "`make bench-gate`" + ` | counts that do not depend on the clock, against bench/baseline/; part of make check |
| ` + "`make bench-gate-update`" + ` | measures those baselines anew and prints what changed |

` + "`BENCHARGS=-json`" + ` writes a run or a comparison as JSON. A missing external tool makes
its contestant absent, which the table says; with REQUIRE_JUDGES=1 that is a failure.

## Method

**Contestants.** Every contestant does the same seeded workload behind one
interface, and every operation has an input of its own. Before it is timed its
output is checked; after each turn, outside the timer, the results of the timed
operations are checked again; one that fails is listed as failing and not timed.

**Processes.** Each contestant runs in a process of its own, pinned to one core
with GOMAXPROCS=1 unless a row says otherwise. A server is loaded from the other
core. Memory is the peak resident size of that process, the harness's code for
all contestants included; in rows that are done once it is what the operation adds
to the resident size that the process has when its input is ready. Some such rows are
done in several processes, of which that of the median time counts.

**Rounds.** A round starts every contestant in a new process, warms it up, and
lets the contestants take turns of about 2 ms in a random order, a new one in each
lap; the sum of a contestant's turns is its one value of the round. Each turn
begins with operations that do not count, and the number of operations in a turn is
steered after every round so that all turns last alike. Short turns let whatever
disturbs the machine meet all contestants, and new processes make rounds independent of where code
and data happened to lie in memory.

**CPU** is user and system time of the process, collector included, without the
Go runtime's monitor thread, whose polling after each wake-up is an artefact of
turns. For a server it is the server's whole time divided by the requests
answered. **Allocations and bytes** are counted in a pass of their own.

**Ratio.** The subject's cost divided by the other's, in each round; shown is the
median of the rounds' ratios with the interval of order statistics that holds the
true median with 99 % confidence (the sign test turned round; nothing is assumed
about the distribution). Below 1 the subject is cheaper. ± beside a median is half
the distance of the quartiles.

**Verdict.** *faster* or *slower* only when the whole interval lies beyond 1 ± 3 %;
otherwise *no difference*. Rounds go on until every interval is wholly inside or
wholly outside that band and every goal is decided, or the time of the row is used
up.

**Goals** are ratios, or counts. *met* and *missed* mean that the whole interval
lies on that side of the goal, *near* that the interval holds it. A missed goal
makes make bench fail; it never fails make check.

**A/A control.** In every row a second instance of the subject runs as a contestant
of its own. The distance of its interval from 1 is the noise floor of the row; if
it is called faster or slower, no verdict of the row counts.

**Busy machine.** Load average, stolen time and the processor time of other
processes are read around every round. A round on a busy machine is thrown away
and repeated; if too few clean ones come together the dirty ones are kept and the
row says DIRTY.

**Runs of different days** are compared after dividing each round's times by a
scale of the same round: for this project's contestants the geometric mean of the
row's peers whose version did not change, otherwise a fixed control kernel (SHA-256,
deflate and a map of the standard library) that runs in every round. The interval
is a bootstrap over the rounds.

**Gate.** Allocations and bytes per operation of named kernels are exact and
measured with GOMAXPROCS=1 and GOGC=off; instruction counts are those of
valgrind's cachegrind for 2N operations less those for N, and must stay within
twice the spread of repeated runs; the sha256 of each sample's output may change
only together with the engine's number; the program's size may grow by 2 %.

## What these pages do not show

Ratios carry over to other machines better than times do, but not perfectly: cache
sizes, clock rates and a hypervisor's neighbours shift them. Times are those of one
machine on one day and stand here for orientation.
`
