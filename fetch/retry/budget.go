// The retry budget: an origin gets at most Ratio retries per call, plus a floor.
//
// Three attempts per call sound harmless. When an origin fails for everybody they triple its load
// at the moment it can bear least. The budget looks at the last Window of calls to the origin: with
// 1 000 calls a second all failing, 10 s hold 10 000 calls and so 2 000 retries, plus 20 %, not
// plus 200 %. A quiet origin, of a call a minute, would get no retry at all by a ratio; the floor
// of 10 in any window is for it.
//
// The window slides by slots of a tenth. To hold the bound in every window, not only in those that
// begin with a slot, withdrawals are counted over a slot more than the window and deposits over no
// more than the window itself.

package retry

import (
	"cmp"
	"math"
	"net/http"
	"sync"
	"time"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

// BudgetConfig bounds the retries and hedges per origin.
type BudgetConfig struct {
	// Ratio of retries to calls: 0 = 0.2; at most 1.
	Ratio float64
	// Floor is how many retries any window may have whatever the ratio: 0 = 10.
	Floor int
	// Window is how far back calls count: 0 = 10 s.
	Window time.Duration
}

const (
	defaultRatio  = 0.2
	defaultFloor  = 10
	defaultWindow = 10 * time.Second

	slots      = 10
	maxOrigins = 4096
	originIdle = 10 * time.Minute
)

// Budget is a Spender with an account per origin. It is safe for concurrent use.
type Budget struct {
	ratio    float64
	floor    float64
	slot     time.Duration
	epoch    time.Time
	accounts *origin.Registry[origin.Key, account]
}

// NewBudget returns a budget; at most 4 096 origins are remembered, those idle for 10 minutes (or a
// longer Window) are not.
func NewBudget(c BudgetConfig) (*Budget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Ratio = cmp.Or(c.Ratio, defaultRatio)
	c.Floor = cmp.Or(c.Floor, defaultFloor)
	c.Window = cmp.Or(c.Window, defaultWindow)
	return &Budget{
		ratio: c.Ratio, floor: float64(c.Floor), slot: c.Window / slots, epoch: time.Now(),
		accounts: origin.NewRegistry(maxOrigins, max(originIdle, c.Window), func(*account, origin.Key) {}),
	}, nil
}

// Validate returns every ConfigError of c, joined.
func (c BudgetConfig) Validate() error {
	var k call.Check
	k.Ratio("Ratio", c.Ratio)
	k.Count("Floor", int64(c.Floor))
	k.Duration("Window", c.Window)
	if c.Window > 0 && c.Window/slots < 10*time.Millisecond {
		k.Fail("Window", c.Window, "at least 100ms, that is 10ms per slot")
	}
	return k.Err()
}

// account holds a ring of one slot more than a window has.
type account struct {
	mu       sync.Mutex
	newest   int64 // number of the slot last written
	deposits [slots + 1]int64
	spent    [slots + 1]int64
	denied   int64
}

// Deposit counts a call to req's origin.
func (b *Budget) Deposit(req *http.Request, now time.Time) {
	a := b.accounts.Touch(call.OriginOf(req), now)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deposits[a.turn(b.number(now))]++
}

// Withdraw takes a retry from the account of req's origin; false when there is none left.
func (b *Budget) Withdraw(req *http.Request, now time.Time) bool {
	a := b.accounts.Touch(call.OriginOf(req), now)
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.turn(b.number(now))
	var deposits, spent int64
	for i := range a.spent {
		spent += a.spent[i]
		deposits += a.deposits[i]
	}
	deposits -= a.deposits[(at+1)%(slots+1)] // the oldest slot lies outside of some windows
	if float64(spent)+1 > math.Floor(b.ratio*float64(deposits)+1e-9)+b.floor {
		a.denied++
		return false
	}
	a.spent[at]++
	return true
}

// Denied returns how many retries to the origin of req the budget has refused.
func (b *Budget) Denied(req *http.Request) int64 {
	a := b.accounts.Peek(origin.Of(req.URL))
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.denied
}

func (b *Budget) number(now time.Time) int64 { return int64(now.Sub(b.epoch) / b.slot) }

// turn empties the slots that time has passed over and returns the index of the current one. A
// clock that steps back stays in the newest slot: what it has counted still counts.
func (a *account) turn(n int64) int {
	if gone := n - a.newest; gone > 0 {
		for i := range min(gone, slots+1) {
			at := (a.newest + 1 + i) % (slots + 1)
			a.deposits[at], a.spent[at] = 0, 0
		}
		if gone > slots {
			a.deposits, a.spent = [slots + 1]int64{}, [slots + 1]int64{}
		}
		a.newest = n
	}
	return int(a.newest % (slots + 1))
}
