package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// fact is a field of a receipt: what the receipt says and what is so.
type fact struct{ field, says, is string }

// contradict makes the verdict Differs when a field of the receipt is not what the file made again
// has, or what the receipt has that the audit log knows: the document id covers the inputs only,
// and the content hash the file only.
func (m *remake) contradict(ctx context.Context, size int64) error {
	v, r := m.verdict, m.receipt
	facts := []fact{{"size", fmt.Sprint(r.Size), fmt.Sprint(size)}, {"time", when(r.Time), when(&m.job.snapshot.Time)}}
	if m.same() { // else another engine knows of pages and title
		facts = append(facts, fact{"pages", fmt.Sprint(r.Pages), fmt.Sprint(m.rendered.Pages)})
		if r.Title != "" {
			facts = append(facts, fact{"title", r.Title, shortTitle(m.rendered.Title)})
		}
	}
	facts = slices.DeleteFunc(facts, func(f fact) bool { return f.says == f.is })
	whose := "the file rendered again has"
	if len(facts) == 0 && !v.InAuditLog {
		known := false
		stored, err := m.documents.Receipt(ctx, r.Space, r.Document)
		if err == nil {
			known, err = m.documents.Chained(ctx, r.Space, r.Document, Sum(stored))
		}
		if err != nil {
			return err
		}
		if known {
			if facts, err = differences(m.text, stored); err != nil {
				return fmt.Errorf("stored receipt of document %s: %w: %w", r.Document, err, ErrDamaged)
			}
			whose = "the one in the audit log has"
		}
	}
	if len(facts) > 0 {
		first := facts[0]
		v.Answer, v.At, v.Field = Differs, -1, show(first.field)
		v.Reason = fmt.Sprintf("the receipt has %s, %s %s", show(first.says), whose, show(first.is))
	}
	return nil
}

func when(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// differences are the members, by name, in which two objects of canonical JSON differ.
func differences(a, b []byte) (all []fact, err error) {
	var x, y map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		return nil, err
	}
	names := maps.Clone(x)
	maps.Copy(names, y)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !bytes.Equal(x[name], y[name]) {
			all = append(all, fact{name, string(x[name]), string(y[name])})
		}
	}
	return all, nil
}

// show is a part of a receipt as people may see it: anybody can have written it.
func show(s string) string {
	switch {
	case s == "":
		return "none"
	case len(s) > 120:
		return "another"
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(s)
	}
	return s
}
