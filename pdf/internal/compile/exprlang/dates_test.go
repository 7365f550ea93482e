package exprlang

import (
	"testing"
	"time"
)

func date2(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }

func TestMonthsEndOnTheLastDayThatThereIs(t *testing.T) {
	for _, c := range []struct {
		from, want time.Time
		n          int
	}{
		{date2(2026, 1, 31), date2(2026, 2, 28), 1},
		{date2(2028, 1, 31), date2(2028, 2, 29), 1},
		{date2(2028, 2, 29), date2(2029, 2, 28), 12},
		{date2(2026, 3, 31), date2(2026, 2, 28), -1},
		{date2(2026, 1, 31), date2(2025, 11, 30), -2},
		{date2(2026, 12, 31), date2(2027, 1, 31), 1},
		{date2(2026, 5, 15), date2(2026, 5, 15), 0},
	} {
		if got := addMonths(c.from, c.n); !got.Equal(c.want) {
			t.Errorf("%s and %d months: %s, want %s", c.from.Format(time.DateOnly), c.n, got.Format(time.DateOnly), c.want.Format(time.DateOnly))
		}
	}
}

func TestAgeChangesOnTheBirthday(t *testing.T) {
	for _, c := range []struct {
		born, on time.Time
		want     int
	}{
		{date2(2000, 7, 14), date2(2026, 7, 13), 25},
		{date2(2000, 7, 14), date2(2026, 7, 14), 26},
		{date2(2000, 2, 29), date2(2026, 2, 28), 25},
		{date2(2000, 2, 29), date2(2026, 3, 1), 26},
		{date2(2000, 2, 29), date2(2028, 2, 29), 28},
		{date2(2026, 1, 1), date2(2026, 1, 1), 0},
	} {
		if got := fullYears(c.born, c.on); got != c.want {
			t.Errorf("born %s, on %s: %d, want %d", c.born.Format(time.DateOnly), c.on.Format(time.DateOnly), got, c.want)
		}
	}
}
