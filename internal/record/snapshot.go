package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// TimePrecision is what times are cut to before they are frozen or recorded.
const TimePrecision = time.Millisecond

// timeLayout is RFC 3339 in UTC with exactly three digits of a second's
// fraction: one instant has one spelling.
const timeLayout = "2006-01-02T15:04:05.000Z"

// SourcesKey is the key in the frozen data under which a template finds how
// each source fared. It is reserved when sources are collected.
const SourcesKey = "sources"

// snapshotVersion is written into each snapshot, so that a later form can be told.
const snapshotVersion = "1"

// Outcome says how collecting a source ended.
type Outcome string

// The outcomes. A failed source has no data: its key is null.
const (
	OK     Outcome = "ok"
	Stale  Outcome = "stale"  // data from an earlier answer, because a new one could not be had
	Failed Outcome = "failed" // no data; the reason says why
)

// Snapshot is frozen input: the data that a template sees and the time, as
// canonical JSON. Its name is the hash of its bytes. It is immutable.
//
// The bytes are {"data":{...},"snapshot":1,"time":"2026-01-31T18:30:00.000Z"};
// without a time (Render without one) that member is absent.
type Snapshot struct {
	bytes []byte
	data  []byte // part of bytes
	time  time.Time
	hash  Hash
}

// Bytes returns the canonical form, not to be changed.
func (s *Snapshot) Bytes() []byte { return s.bytes }

// Data returns the data object that a template sees, not to be changed.
func (s *Snapshot) Data() []byte { return s.data }

// Time returns the frozen time in UTC, or the zero time when there is none.
func (s *Snapshot) Time() time.Time { return s.time }

// Hash names the snapshot.
func (s *Snapshot) Hash() Hash { return s.hash }

// Freeze makes the snapshot of inline data (a JSON object, or nothing), of what
// was collected and of the time, which is cut to [TimePrecision] and may be
// zero. With sources, the data that a template sees has each source's JSON
// under its key (null when it failed) and under [SourcesKey] an object
// {KEY: {"outcome": ..., "reason": ...}}, so that a template can show what is
// missing; the inline data may then not use those keys.
//
// Collected data that cannot be frozen makes its source a failed one; the
// elements of sources are updated so. Errors in inline data are *DataError and
// *LimitError, with places in the text as sent.
func Freeze(data []byte, sources []Collected, t time.Time, l Limits) (*Snapshot, error) {
	l = l.withDefaults()
	frozen := []byte("{}")
	nodes := 1
	if data != nil {
		var err error
		if frozen, nodes, err = canonical(data, l); err != nil {
			return nil, err
		}
		if frozen[0] != '{' {
			line, column := position(data, locator{data}.skip(0))
			return nil, &DataError{Problem: Problem{Line: line, Column: column, Want: "an object", Got: kindOf(frozen)}}
		}
	}
	if len(sources) > 0 {
		var err error
		if frozen, err = merge(data, frozen, nodes, sources, l); err != nil {
			return nil, err
		}
	}
	return newSnapshot(frozen, t)
}

// kindOf names the kind of a canonical value.
func kindOf(v []byte) string {
	switch v[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// merge puts what was collected into the canonical object data, of which sent
// is the text as sent.
func merge(sent, data []byte, nodes int, sources []Collected, l Limits) ([]byte, error) {
	type entry struct {
		name  string
		value []byte
	}
	var entries []entry
	reserved := map[string]bool{SourcesKey: true}
	for _, c := range sources {
		reserved[c.Key] = true
	}
	loc := locator{data}
	_, err := loc.members(0, func(name string, at int) (int, error) {
		if reserved[name] {
			line, column, _ := Locate(sent, name)
			return 0, &DataError{Problem: Problem{
				Line: line, Column: column, Path: name, Message: "the key is taken by a source or by " + SourcesKey,
			}}
		}
		end := loc.end(at)
		entries = append(entries, entry{name, data[at:end]})
		return end, nil
	})
	if err != nil {
		return nil, err
	}
	bytesLeft := l.Bytes - len(data)
	fates := make(map[string]fate, len(sources))
	for i := range sources {
		c := &sources[i]
		value := []byte("null")
		if c.Outcome != Failed {
			// A source stands one level down, and all of them share the limits.
			v, n, err := canonical(c.Data, Limits{Bytes: max(bytesLeft, 0), Depth: l.Depth - 1, Nodes: max(l.Nodes-nodes, 0)})
			if err != nil {
				c.Outcome, c.Reason, c.Data = Failed, "the answer cannot be frozen: "+err.Error(), nil
			} else {
				value = v
				nodes += n
				bytesLeft -= len(v)
			}
		}
		entries = append(entries, entry{c.Key, value})
		fates[c.Key] = fate{Outcome: c.Outcome, Reason: c.Reason}
	}
	how, err := marshal(fates)
	if err != nil {
		return nil, err
	}
	entries = append(entries, entry{SourcesKey, how})
	slices.SortFunc(entries, func(a, b entry) int { return compareUTF16(a.name, b.name) })
	out := []byte{'{'}
	for i, e := range entries {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendString(out, e.name), ':'), e.value...)
	}
	return append(out, '}'), nil
}

// fate is what a template can read about a source.
type fate struct {
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason"`
}

func newSnapshot(data []byte, t time.Time) (*Snapshot, error) {
	s := &Snapshot{}
	const head = `{"data":`
	b := make([]byte, 0, len(head)+len(data)+64)
	b = append(append(b, head...), data...)
	b = append(b, `,"snapshot":`+snapshotVersion...)
	if !t.IsZero() {
		s.time = cutTime(t)
		if y := s.time.Year(); y < 0 || y > 9999 {
			return nil, &RequestError{Field: "time", Got: fmt.Sprintf("year %d", y), Want: "a year from 0 to 9999 (RFC 3339)"}
		}
		b = append(b, `,"time":"`+s.time.Format(timeLayout)+`"`...)
	}
	s.bytes = append(b, '}')
	s.data = s.bytes[len(head) : len(head)+len(data) : len(head)+len(data)]
	s.hash = Sum(s.bytes)
	return s, nil
}

// cutTime returns t in UTC, cut to TimePrecision, without a monotonic reading.
func cutTime(t time.Time) time.Time { return t.Round(0).UTC().Truncate(TimePrecision) }

// ParseSnapshot reads the bytes of a snapshot. Bytes that are not the canonical
// form of a snapshot are ErrDamaged.
func ParseSnapshot(b []byte) (*Snapshot, error) {
	var form struct {
		Data     json.RawMessage `json:"data"`
		Snapshot json.Number     `json:"snapshot"`
		Time     *string         `json:"time"`
	}
	damaged := func(reason string) error { return fmt.Errorf("snapshot: %s: %w", reason, ErrDamaged) }
	if err := json.Unmarshal(b, &form); err != nil {
		return nil, damaged(err.Error())
	}
	if form.Snapshot != snapshotVersion {
		return nil, damaged(fmt.Sprintf("version %q is not %s", form.Snapshot, snapshotVersion))
	}
	if len(form.Data) == 0 || form.Data[0] != '{' {
		return nil, damaged("no data object")
	}
	var t time.Time
	if form.Time != nil {
		var err error
		if t, err = time.Parse(timeLayout, *form.Time); err != nil {
			return nil, damaged(err.Error())
		}
	}
	s, err := newSnapshot(form.Data, t)
	if err != nil {
		return nil, damaged(err.Error())
	}
	// Bytes and values are bounded by what was read; what sources add to data that
	// is as large as it may be goes beyond the limits of data alone.
	again, err := Canonical(b, Limits{Bytes: len(b) + 1, Depth: snapshotDepth, Nodes: len(b) + 1})
	if err != nil || !bytes.Equal(again, b) || !bytes.Equal(s.bytes, b) {
		return nil, damaged("not in canonical form")
	}
	return s, nil
}

// marshal returns v as canonical JSON. It is for the package's own small types,
// not for data.
func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return Canonical(b, Limits{Bytes: len(b) + 1})
}
