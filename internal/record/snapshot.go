package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"example.com/quire/internal/strictjson"
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
// *LimitError, with places in the text that from names.
func Freeze(data []byte, from Origin, sources []Collected, t time.Time) (*Snapshot, error) {
	frozen, nodes := []byte("{}"), 1
	if data != nil {
		var err error
		if frozen, nodes, err = strictjson.Canonical(data, dataLimits); err != nil {
			return nil, from.fault(data, err)
		}
		if frozen[0] != '{' {
			wrong := &DataError{Problem: Problem{Want: "an object", Got: kindOf(frozen)}}
			from.locate(data, []*Problem{&wrong.Problem})
			return nil, wrong
		}
	}
	if len(sources) > 0 {
		if err := reserve(data, from, sources); err != nil {
			return nil, err
		}
		var err error
		if frozen, err = merge(frozen, nodes, sources); err != nil {
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

// reserve refuses data that use a key which sources fill.
func reserve(data []byte, from Origin, sources []Collected) error {
	pointers := []string{strictjson.Pointer(SourcesKey)}
	for _, c := range sources {
		pointers = append(pointers, strictjson.Pointer(c.Key))
	}
	for i, at := range strictjson.Locate(data, pointers...) {
		if at.Exact {
			taken := &DataError{Problem: Problem{
				Path: strictjson.Path(pointers[i]), Pointer: pointers[i], Message: "the key is taken by a source or by " + SourcesKey,
			}}
			from.locate(data, []*Problem{&taken.Problem})
			return taken
		}
	}
	return nil
}

// merge puts what was collected into the canonical object data, which has so many values.
func merge(data []byte, nodes int, sources []Collected) ([]byte, error) {
	out := bytes.TrimSuffix(data, []byte("}"))
	add := func(key string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strictjson.AppendString(out, key), ':'), value...)
	}
	left := strictjson.Limits{Bytes: DataBytes - len(data), Depth: DataDepth - 1, Nodes: DataNodes - nodes}
	how := make(map[string]outcome, len(sources))
	for i := range sources {
		c := &sources[i]
		value := []byte("null")
		if c.Outcome != Failed {
			// A source stands one level down, and all of them share the limits.
			v, n, err := canonicalWithin(c.Data, left)
			if err != nil {
				c.Outcome, c.Reason, c.Data = Failed, "the answer cannot be frozen: "+err.Error(), nil
			} else {
				value = v
				left.Nodes -= n
				left.Bytes -= len(v)
			}
		}
		add(c.Key, value)
		how[c.Key] = outcome{Outcome: c.Outcome, Reason: c.Reason}
	}
	outcomes, err := marshal(how)
	if err != nil {
		return nil, err
	}
	add(SourcesKey, outcomes)
	frozen, _, err := strictjson.Canonical(append(out, '}'), strictjson.Limits{})
	return frozen, err
}

// canonicalWithin is strictjson.Canonical with limits of which nothing may be left.
func canonicalWithin(text []byte, left strictjson.Limits) ([]byte, int, error) {
	switch {
	case left.Bytes <= 0:
		return nil, 0, &LimitError{Name: "data bytes", Limit: DataBytes}
	case left.Nodes <= 0:
		return nil, 0, &LimitError{Name: "data nodes", Limit: DataNodes}
	}
	v, n, err := strictjson.Canonical(text, left)
	return v, n, Origin{}.fault(text, err)
}

// outcome is what a template can read about a source.
type outcome struct {
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
	again, _, err := strictjson.Canonical(b, strictjson.Limits{Depth: DataDepth + 1})
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
	canonical, _, err := strictjson.Canonical(b, strictjson.Limits{})
	return canonical, err
}
