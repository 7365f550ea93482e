package machine

import (
	"fmt"
	"slices"
	"strings"
)

// A table says for each state and each event what follows. An empty cell is not allowed: a mistake
// of our caller when the event is a call, of the peer when it is something received.
type table struct {
	name   string
	states []string
	events []string
	calls  int      // so many of the events are calls of our own program: the first
	cells  [][]cell // by state, then event
}

// cell is a transition; the zero cell forbids.
type cell struct {
	to  int8
	act act
}

type act uint8

const (
	forbidden act = iota
	move
	ignored // allowed, and without any effect: it comes too late
)

// next returns where an event leads. ok is false when it is not allowed.
func (t *table) next(state, ev int) (to int, a act) {
	c := t.cells[state][ev]
	return int(c.to), c.act
}

// refusal is why an event is not allowed.
func (t *table) refusal(state, ev int) string {
	return fmt.Sprintf("%s in state %s", t.events[ev], t.states[state])
}

// newTable returns a table that forbids everything. Events are numbered calls first.
func newTable(name string, states, calls, received []string) *table {
	t := &table{name: name, states: states, events: slices.Concat(calls, received), calls: len(calls), cells: make([][]cell, len(states))}
	for i := range t.cells {
		t.cells[i] = make([]cell, len(t.events))
	}
	return t
}

// on sets where events lead from a state.
func (t *table) on(state, to int, events ...int) {
	for _, e := range events {
		t.cells[state][e] = cell{int8(to), move} //nolint:gosec // G115: a handful of states
	}
}

// ignore sets events that have no effect in a state.
func (t *table) ignore(state int, events ...int) {
	for _, e := range events {
		t.cells[state][e] = cell{int8(state), ignored} //nolint:gosec // G115: a handful of states
	}
}

// markdown prints the table: a row per event, a column per state.
func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| event | %s |\n|---|%s\n", t.name, strings.Join(t.states, " | "), strings.Repeat("---|", len(t.states)))
	for e, ev := range t.events {
		kind := "received"
		if e < t.calls {
			kind = "call"
		}
		fmt.Fprintf(&b, "| %s (%s) |", ev, kind)
		for s := range t.states {
			switch to, a := t.next(s, e); {
			case a == forbidden:
				b.WriteString(" error |")
			case a == ignored:
				b.WriteString(" ignored |")
			case to == s:
				b.WriteString(" stays |")
			default:
				fmt.Fprintf(&b, " %s |", t.states[to])
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Tables returns the state tables of both roles as Markdown.
func Tables() string {
	var parts []string
	for _, t := range []*table{clientPool, clientPipeline, serverPool, serverPipeline} {
		parts = append(parts, t.markdown())
	}
	return strings.Join(parts, "\n")
}

// The client's pool (MS-PSRP 3.1.1.2).
const (
	cpBeforeOpen = iota
	cpNegotiating
	cpOpening
	cpOpened
	cpClosing
	cpClosed
	cpBroken
)

const (
	cpOpen = iota
	cpUse  // any call that needs an open pool
	cpClose
	cpRecvCapability
	cpRecvPrivateData
	cpRecvOpened
	cpRecvClosing
	cpRecvClosed
	cpRecvBroken
	cpRecvOther // any further message of the pool or of a pipeline
	cpRecvAck   // DataAck of the pool
	cpRecvCloseAck
	cpRecvEnd // the transport has ended
)

var clientPool = func() *table {
	t := newTable("Client: pool", []string{"BeforeOpen", "Negotiating", "Opening", "Opened", "Closing", "Closed", "Broken"}, []string{"Open", "Use", "Close"}, []string{
		"SESSION_CAPABILITY", "APPLICATION_PRIVATE_DATA", "state Opened", "state Closing",
		"state Closed", "state Broken", "other message", "DataAck", "CloseAck", "end of transport",
	})
	t.on(cpBeforeOpen, cpNegotiating, cpOpen)
	t.on(cpBeforeOpen, cpClosed, cpClose, cpRecvEnd)
	t.on(cpNegotiating, cpOpening, cpRecvCapability)
	t.on(cpOpening, cpOpened, cpRecvOpened)
	t.on(cpOpening, cpOpening, cpRecvPrivateData, cpRecvOther)
	t.on(cpOpened, cpOpened, cpUse, cpRecvPrivateData, cpRecvOther)
	for _, s := range []int{cpNegotiating, cpOpening, cpOpened} {
		t.on(s, s, cpRecvAck)
		t.on(s, cpClosing, cpClose)
		t.on(s, cpBroken, cpRecvBroken, cpRecvEnd)
	}
	// A server may close by itself; its Closed then ends the session.
	for _, s := range []int{cpOpening, cpOpened} {
		t.on(s, s, cpRecvClosing)
		t.on(s, cpClosed, cpRecvClosed, cpRecvCloseAck)
	}
	t.on(cpNegotiating, cpClosed, cpRecvCloseAck)
	t.on(cpClosing, cpClosing, cpRecvClosing, cpRecvClosed)
	t.ignore(cpClosing, cpClose, cpRecvCapability, cpRecvPrivateData, cpRecvOpened, cpRecvBroken, cpRecvOther, cpRecvAck)
	t.on(cpClosing, cpClosed, cpRecvCloseAck)
	t.on(cpClosing, cpClosed, cpRecvEnd)
	for _, s := range []int{cpClosed, cpBroken} {
		t.ignore(s, cpClose, cpRecvCapability, cpRecvPrivateData, cpRecvOpened, cpRecvClosing, cpRecvClosed, cpRecvBroken,
			cpRecvOther, cpRecvAck, cpRecvCloseAck, cpRecvEnd)
	}
	return t
}()

// The client's pipeline (MS-PSRP 3.1.1.3).
const (
	ciDeferred = iota // waits for the session key that its arguments need
	ciCreating        // Command is on its way
	ciSending         // CommandAck has come, the message that creates it is on its way
	ciRunning
	ciStopping
	ciEnded // the terminal state has come; not closed yet
	ciClosing
	ciClosed
)

const (
	ciStart = iota // the Command goes out
	ciSent         // the last fragment of the message that creates it goes out
	ciInput
	ciEndInput
	ciAnswer
	ciStop
	ciClose
	ciRecvCommandAck
	ciRecvDataAck
	ciRecvMessage // a record or host call
	ciRecvEnded   // a terminal state
	ciRecvSignalAck
	ciRecvCloseAck
	ciRecvLost // the pool broke, or the transport lost this target
)

var clientPipeline = func() *table {
	t := newTable("Client: pipeline", []string{"Deferred", "Creating", "Sending", "Running", "Stopping", "Ended", "Closing", "Closed"}, []string{"Start", "Sent", "Input", "EndInput", "Answer", "Stop", "Close"}, []string{
		"CommandAck", "DataAck", "record or host call", "terminal state", "SignalAck", "CloseAck",
		"loss",
	})
	t.on(ciDeferred, ciCreating, ciStart)
	t.on(ciDeferred, ciDeferred, ciInput, ciEndInput)
	t.on(ciDeferred, ciClosed, ciStop, ciClose, ciRecvLost)
	t.on(ciCreating, ciCreating, ciInput, ciEndInput)
	t.on(ciCreating, ciSending, ciRecvCommandAck)
	t.on(ciSending, ciRunning, ciSent)
	// A server that has no pipeline yet has none to stop, and may run what comes after a Signal: it
	// is closed at once.
	t.on(ciCreating, ciClosing, ciStop)
	t.on(ciSending, ciClosing, ciStop)
	for _, s := range []int{ciSending, ciRunning} {
		t.on(s, s, ciInput, ciEndInput, ciAnswer, ciRecvDataAck, ciRecvMessage)
	}
	t.ignore(ciRunning, ciSent)
	t.on(ciRunning, ciStopping, ciStop)
	t.on(ciStopping, ciStopping, ciAnswer, ciRecvDataAck, ciRecvMessage, ciRecvSignalAck)
	t.ignore(ciStopping, ciSent)
	t.ignore(ciStopping, ciStop, ciEndInput)
	for _, s := range []int{ciSending, ciRunning, ciStopping} {
		t.on(s, ciEnded, ciRecvEnded)
	}
	for _, s := range []int{ciCreating, ciSending, ciRunning, ciStopping, ciEnded} {
		t.on(s, ciClosing, ciClose)
		t.on(s, ciClosed, ciRecvLost)
	}
	t.ignore(ciEnded, ciSent, ciEndInput, ciAnswer, ciStop, ciRecvMessage, ciRecvEnded)
	t.on(ciEnded, ciEnded, ciRecvDataAck, ciRecvSignalAck)
	t.ignore(ciClosing, ciEndInput, ciAnswer, ciStop, ciClose, ciRecvCommandAck, ciRecvDataAck, ciRecvMessage, ciRecvEnded, ciRecvSignalAck)
	t.on(ciClosing, ciClosed, ciRecvCloseAck, ciRecvLost)
	t.ignore(ciClosed, ciEndInput, ciAnswer, ciStop, ciClose, ciRecvCommandAck, ciRecvDataAck, ciRecvMessage, ciRecvEnded,
		ciRecvSignalAck, ciRecvCloseAck, ciRecvLost)
	return t
}()

// The server's pool (MS-PSRP 3.2.1.2).
const (
	spBeforeOpen = iota
	spNegotiated
	spOpened
	spClosing
	spClosed
	spBroken
)

const (
	spUse = iota // any call that needs an open pool
	spFinishClose
	spBreak
	spRecvCapability
	spRecvInit
	spRecvRequest  // any further message of the pool
	spRecvPipeline // any packet of a pipeline
	spRecvClose
	spRecvEnd
)

var serverPool = func() *table {
	t := newTable("Server: pool", []string{"BeforeOpen", "Negotiated", "Opened", "Closing", "Closed", "Broken"}, []string{"Use", "FinishClose", "Break"}, []string{
		"SESSION_CAPABILITY", "INIT_RUNSPACEPOOL", "other message of the pool", "packet of a pipeline",
		"Close", "end of transport",
	})
	t.on(spBeforeOpen, spNegotiated, spRecvCapability)
	t.on(spNegotiated, spOpened, spRecvInit)
	t.on(spOpened, spOpened, spUse, spRecvRequest, spRecvPipeline)
	for _, s := range []int{spBeforeOpen, spNegotiated, spOpened} {
		t.on(s, spClosing, spRecvClose)
		t.on(s, spBroken, spBreak, spRecvEnd)
	}
	t.on(spClosing, spClosed, spFinishClose)
	t.on(spClosing, spClosing, spUse)
	t.on(spClosing, spBroken, spRecvEnd)
	t.ignore(spClosing, spBreak, spRecvRequest, spRecvPipeline, spRecvClose)
	t.on(spBroken, spClosing, spRecvClose)
	for _, s := range []int{spClosed, spBroken} {
		t.ignore(s, spBreak, spRecvRequest, spRecvPipeline, spRecvEnd)
	}
	t.ignore(spClosed, spRecvClose)
	return t
}()

// The server's pipeline (MS-PSRP 3.2.1.3).
const (
	siCommand = iota // Command has come, CREATE_PIPELINE has not
	siRunning
	siStopping
	siEnded
	siClosed
)

const (
	siSend = iota // a record, host call or other message of ours
	siFinish
	siRecvCreate
	siRecvInput
	siRecvEndInput
	siRecvResponse
	siRecvSignal
	siRecvClose
)

var serverPipeline = func() *table {
	t := newTable("Server: pipeline", []string{"Command", "Running", "Stopping", "Ended", "Closed"}, []string{"Send", "Finish"}, []string{
		"CREATE_PIPELINE or GET_COMMAND_METADATA", "PIPELINE_INPUT", "END_OF_PIPELINE_INPUT",
		"host response", "Signal", "Close",
	})
	t.on(siCommand, siRunning, siRecvCreate)
	t.on(siCommand, siEnded, siRecvSignal)
	t.on(siCommand, siClosed, siRecvClose)
	t.on(siRunning, siRunning, siSend, siRecvInput, siRecvEndInput, siRecvResponse)
	t.on(siStopping, siStopping, siSend)
	for _, s := range []int{siRunning, siStopping} {
		t.on(s, siEnded, siFinish)
		t.on(s, siStopping, siRecvSignal, siRecvClose)
	}
	t.ignore(siStopping, siRecvInput, siRecvEndInput, siRecvResponse)
	t.ignore(siEnded, siRecvCreate, siRecvInput, siRecvEndInput, siRecvResponse, siRecvSignal)
	t.on(siEnded, siClosed, siRecvClose)
	t.ignore(siClosed, siRecvCreate, siRecvInput, siRecvEndInput, siRecvResponse, siRecvSignal, siRecvClose)
	return t
}()
