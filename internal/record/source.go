package record

import "encoding/json"

// Parameters are the values with which a request calls a source, by name. Each
// is a JSON string, number or boolean.
type Parameters map[string]json.RawMessage

// SourceCall requests the data of a configured source. Requests give a name and typed parameters,
// never an address or a script.
type SourceCall struct {
	Key        string     `json:"key"` // key of the data
	Source     string     `json:"source"`
	Parameters Parameters `json:"parameters,omitempty"`
}

// Outcome says how collecting a source ended.
type Outcome string

// The outcomes. A failed source has no data: its key is null.
const (
	OK     Outcome = "ok"
	Stale  Outcome = "stale"  // data from an earlier answer, because a new one could not be had
	Failed Outcome = "failed" // no data; the reason says why
)

// Collected is what calling a source gave, and how that went.
type Collected struct {
	SourceRecord
	Required bool   // without its data nothing is made
	Data     []byte // any JSON value; nil when Outcome is Failed
}

// SourceRecord says how collecting one source went.
type SourceRecord struct {
	Key        string     `json:"key"`
	Source     string     `json:"source"`
	Kind       string     `json:"kind"`
	Parameters Parameters `json:"parameters,omitempty"`
	Outcome    Outcome    `json:"outcome"`
	// Reason says why there is no data, or no newer data. It is safe to show: it contains no
	// credentials and no addresses that the caller did not give.
	Reason   string          `json:"reason,omitempty"`
	Attempts []AttemptRecord `json:"attempts"`
	Micros   int64           `json:"us"` // how long it took
}

// AttemptRecord is one try to get a source's data.
type AttemptRecord struct {
	Number      int    `json:"n"`                  // from 1
	Micros      int64  `json:"us"`                 // without the wait before it
	DelayMicros int64  `json:"delay_us,omitempty"` // the wait before it
	Status      int    `json:"status,omitempty"`   // HTTP status, 0: no answer
	Reason      string `json:"reason,omitempty"`   // why it did not count, "" for the one that did
}
