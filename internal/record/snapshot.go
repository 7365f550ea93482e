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

// Snapshot is frozen input: the data that a template sees and the time, as
// canonical JSON. It is immutable.
type Snapshot struct {
	// Bytes are {"data":{...},"snapshot":1,"time":"2026-01-31T18:30:00.000Z"}; without a time
	// (Render without one) that member is absent.
	Bytes []byte
	Data  []byte    // the object that a template sees, a part of Bytes
	Time  time.Time // in UTC; zero: none
	Hash  Hash      // of Bytes, the snapshot's name
}

// Freeze makes the snapshot of inline data (a JSON object, or nothing), of the collected data and
// of the time, which is truncated to [TimePrecision] and may be zero. With sources, the data for
// the template has each source's JSON under its key (null if it failed) and under [SourcesKey] an
// object {KEY: {"outcome": ..., "reason": ...}}, so that a template can show what is missing. The
// inline data may then not use those keys.
//
// If collected data cannot be frozen, its source counts as failed, and the elements of sources are
// updated. Errors in inline data are *DataError and *LimitError, with positions in the text that
// from names.
func Freeze(data []byte, from Origin, sources []Collected, t time.Time) (s *Snapshot, err error) {
	frozen, nodes := []byte("{}"), 1
	if data != nil {
		if frozen, nodes, err = strictjson.Canonical(data, dataLimits); err != nil {
			return nil, from.fault(data, err)
		}
		if frozen[0] != '{' {
			return nil, from.wrong(data, Problem{Code: codeType, Want: "an object", Got: strictjson.KindName(frozen[0])})
		}
	}
	if len(sources) > 0 {
		if err := reserve(data, from, sources); err != nil {
			return nil, err
		}
		if frozen, err = merge(frozen, nodes, sources); err != nil {
			return nil, err
		}
	}
	return newSnapshot(frozen, t)
}

// reserve refuses data that use a key which sources fill.
func reserve(data []byte, from Origin, sources []Collected) error {
	pointers := []string{strictjson.Pointer(SourcesKey)}
	for _, c := range sources {
		pointers = append(pointers, strictjson.Pointer(c.Key))
	}
	for i, at := range strictjson.Locate(data, pointers...) {
		if at.Exact {
			return from.wrong(data, Problem{
				Path: strictjson.Path(pointers[i]), Pointer: pointers[i], Message: "the key is already used by a source or by " + SourcesKey,
			})
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
	how := make(map[string]map[string]string, len(sources)) // what a template can read about each
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
		how[c.Key] = map[string]string{"outcome": string(c.Outcome), "reason": c.Reason}
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

func newSnapshot(data []byte, t time.Time) (*Snapshot, error) {
	const head = `{"data":`
	b := make([]byte, 0, len(head)+len(data)+64)
	b = append(append(b, head...), data...)
	b = append(b, `,"snapshot":`+snapshotVersion...)
	if !t.IsZero() {
		t = cutTime(t)
		if y := t.Year(); y < 0 || y > 9999 {
			return nil, &RequestError{Field: "time", Got: fmt.Sprintf("year %d", y), Want: "a year from 0 to 9999 (RFC 3339)"}
		}
		b = append(b, `,"time":"`+t.Format(timeLayout)+`"`...)
	}
	b = append(b, '}')
	end := len(head) + len(data)
	return &Snapshot{Bytes: b, Data: b[len(head):end:end], Time: t, Hash: Sum(b)}, nil
}

// cutTime returns t in UTC, cut to TimePrecision, without a monotonic reading.
func cutTime(t time.Time) time.Time { return t.Round(0).UTC().Truncate(TimePrecision) }

// ParseSnapshot reads the bytes of a snapshot. Bytes that are not the canonical
// form of a snapshot are ErrDamaged.
func ParseSnapshot(b []byte) (*Snapshot, error) {
	var form struct {
		Data     json.RawMessage `json:"data"`
		Snapshot json.Number     `json:"snapshot"`
		Time     string          `json:"time"`
	}
	if err := json.Unmarshal(b, &form); err != nil {
		return nil, fmt.Errorf("snapshot: %w: %w", err, ErrDamaged)
	}
	if form.Snapshot != snapshotVersion {
		return nil, fmt.Errorf("snapshot: version %q is not %s: %w", form.Snapshot, snapshotVersion, ErrDamaged)
	}
	t, _ := time.Parse(timeLayout, form.Time) // what is no such time is not spelled as s is
	s, err := newSnapshot(form.Data, t)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w: %w", err, ErrDamaged)
	}
	// Bytes and values are bounded by what was read; what sources add to data that
	// is as large as it may be goes beyond the limits of data alone.
	again, _, err := strictjson.Canonical(b, strictjson.Limits{Depth: DataDepth + 1})
	if err != nil || !bytes.Equal(again, b) || !bytes.Equal(s.Bytes, b) || s.Data[0] != '{' {
		return nil, fmt.Errorf("snapshot: not in canonical form: %w", ErrDamaged)
	}
	return s, nil
}

// marshal returns v as canonical JSON. It is for the package's own small types, not for data.
func marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	canonical, _, err := strictjson.Canonical(b, strictjson.Limits{})
	return canonical, err
}
