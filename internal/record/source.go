package record

import (
	"encoding/json"
	"time"
)

// Parameters are the values with which a request calls a source, by name. Each
// is a JSON string, number or boolean.
type Parameters map[string]json.RawMessage

// SourceCall asks for the data of a configured source. Requests pick a name and
// typed parameters, never an address or a script.
type SourceCall struct {
	Key        string     `json:"key"` // where the data stands
	Source     string     `json:"source"`
	Parameters Parameters `json:"parameters,omitempty"`
}

// Attempt is one try to get a source's data.
type Attempt struct {
	Number int           // from 1
	Took   time.Duration // without the wait before it
	Delay  time.Duration // the wait before it
	Status int           // HTTP status, 0: no answer
	Reason string        // why it did not count, "" for the one that did
}

// Collected is what calling a source gave. When Outcome is Failed, Data is nil
// and Reason says why; when it is Stale, Reason says why there is nothing newer.
type Collected struct {
	Key, Source, Kind string
	Parameters        Parameters
	Required          bool
	Outcome           Outcome
	Reason            string // safe to show: no credentials, no addresses that the caller did not give
	Data              []byte // any JSON value
	Attempts          []Attempt
	Took              time.Duration
}
