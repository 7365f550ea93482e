package retry

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/quire/fetch/fetchtest"
)

func budget(t *testing.T, c BudgetConfig) *Budget {
	t.Helper()
	b, err := NewBudget(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBudgetHoldsInEveryWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Status(503))
		send := layer(t, Policy{Backoff: fixed(0), Spender: budget(t, BudgetConfig{})}, tr)
		var calls []time.Time
		stops := map[string]int{}
		for range 3000 { // 100 a second for 30 s
			calls = append(calls, time.Now())
			resp, st, err := send.do(request(t, "GET", nil))
			if err != nil {
				t.Fatal(err)
			}
			closeResp(t, resp)
			stops[st.Stop()]++
			<-time.After(10 * time.Millisecond)
		}
		// In every 10 s window: requests <= calls + 20 % + floor.
		var sent []time.Time
		for _, r := range tr.Requests() {
			sent = append(sent, r.Time)
		}
		in := func(ts []time.Time, from time.Time) (n int) {
			for _, at := range ts {
				if !at.Before(from) && at.Before(from.Add(10*time.Second)) {
					n++
				}
			}
			return n
		}
		for from := calls[0]; from.Before(calls[len(calls)-1]); from = from.Add(333 * time.Millisecond) {
			c, s := in(calls, from), in(sent, from)
			if extra := s - c; float64(extra) > 0.2*float64(c)+10 && c == 1000 {
				t.Errorf("window from %v: %d calls, %d extra", from.Sub(calls[0]), c, extra)
			}
		}
		if extra := len(sent) - len(calls); extra < 500 {
			t.Errorf("only %d retries: the budget is not used", extra)
		}
		if stops[StopBudget] == 0 {
			t.Errorf("no call says that the budget stopped it: %v", stops)
		}
	})
}

func TestSpentBudgetIsAnErrorThatSaysSo(t *testing.T) {
	b := budget(t, BudgetConfig{Floor: 1})
	send := layer(t, Policy{Backoff: fixed(0), Spender: b}, fetchtest.Script(fetchtest.Step{}.DialError()))
	resp, st, err := send.do(request(t, "GET", nil))
	closeResp(t, resp)
	if !errors.Is(err, ErrBudget) || st.Stop() != StopBudget || b.Denied(request(t, "GET", nil)) != 1 {
		t.Errorf("got %v, stop %q, denied %d", err, st.Stop(), b.Denied(request(t, "GET", nil)))
	}
}

func TestOriginsDoNotShareABudget(t *testing.T) {
	b := budget(t, BudgetConfig{Floor: 2})
	now := time.Now()
	at := func(url string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return req
	}
	for i := range 3 {
		if got := b.Withdraw(at("http://a.example"), now); got != (i < 2) {
			t.Errorf("withdrawal %d from a: %t", i, got)
		}
	}
	if !b.Withdraw(at("http://b.example"), now) || !b.Withdraw(at("https://a.example"), now) {
		t.Error("another origin has no account of its own")
	}
	if b.Withdraw(at("HTTP://A.example:80/x"), now) {
		t.Error("letter case and the default port split the origin")
	}
}

// TestBudgetAgreesWithItsModel compares the slots with a plain list of times.
func TestBudgetAgreesWithItsModel(t *testing.T) {
	req := request(t, "GET", nil)
	rapid.Check(t, func(t *rapid.T) {
		b, err := NewBudget(BudgetConfig{Ratio: 0.2, Floor: 3, Window: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		now := b.epoch
		var deposits, spent []time.Time
		count := func(ts []time.Time, width time.Duration) (n float64) {
			for _, at := range ts {
				if now.Sub(at) < width {
					n++
				}
			}
			return n
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "ms")) * time.Millisecond)
			if rapid.Bool().Draw(t, "deposit") {
				b.Deposit(req, now)
				deposits = append(deposits, now)
				continue
			}
			most := math.Floor(0.2*count(deposits, time.Second)+1e-9) + 3
			least := math.Floor(0.2*count(deposits, 900*time.Millisecond)+1e-9) + 3
			got := b.Withdraw(req, now)
			if got && count(spent, time.Second)+1 > most {
				t.Fatalf("over the bound of %v in the last second", most)
			}
			if !got && count(spent, 1100*time.Millisecond)+1 <= least {
				t.Fatalf("refused below %v", least)
			}
			if got {
				spent = append(spent, now)
			}
		}
	})
}

func TestBudgetClockStepsBack(t *testing.T) {
	b := budget(t, BudgetConfig{Floor: 1})
	req, now := request(t, "GET", nil), time.Now()
	if !b.Withdraw(req, now.Add(5*time.Second)) || b.Withdraw(req, now) {
		t.Error("a step back of the clock gives credit")
	}
	if !b.Withdraw(req, now.Add(time.Hour)) {
		t.Error("an hour later the window is not empty")
	}
}

func TestBudgetForgetsOrigins(t *testing.T) {
	b := budget(t, BudgetConfig{})
	req, now := request(t, "GET", nil), time.Now()
	for i := range 100_000 {
		req.URL.Host = fmt.Sprintf("h%d.example", i)
		b.Deposit(req, now)
	}
	if got := b.accounts.Len(); got > maxOrigins {
		t.Errorf("%d accounts", got)
	}
}

func TestBudgetConfigIsRefused(t *testing.T) {
	for field, c := range map[string]BudgetConfig{
		"Ratio":  {Ratio: math.NaN()},
		"Floor":  {Floor: -1},
		"Window": {Window: 50 * time.Millisecond},
	} {
		_, err := NewBudget(c)
		if ce, ok := errors.AsType[*ConfigError](err); !ok || ce.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	if _, err := NewBudget(BudgetConfig{Ratio: 1.1}); err == nil {
		t.Error("a ratio above 1 was taken")
	}
}
