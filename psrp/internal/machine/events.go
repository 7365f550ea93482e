package machine

import (
	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// Event is something that the session's owner is told of. Identifiers are those of pipelines; a
// zero identifier is the pool.
type Event interface{ event() }

// Events of both sides.
type (
	// FragmentsDropped says that continuations came whose start did not: of a message that was
	// given up, as clients and servers do when they stop.
	FragmentsDropped struct {
		ID    clixml.GUID
		Count int
	}
	// KeyExchanged says that both sides have the session key of protocols before 2.4.
	KeyExchanged struct{}
)

// Events of the client.
type (
	// Opened says that the pool can be used.
	Opened struct{ Version clixml.Version }
	// PrivateData is what the server tells of itself; it mostly comes before Opened.
	PrivateData struct{ Data clixml.Value }
	// PoolEnded is the end of the pool, once: after Close, or because it broke. Err is nil when it
	// was closed as asked. Every pipeline has ended before it.
	PoolEnded struct {
		State proto.PoolState // Closed or Broken
		Err   error           // *proto.RemoteProtocolError, the transport's error or *proto.ErrorRecord
	}
	// Recorded is a record of a pipeline. Size is about what it takes in memory.
	Recorded struct {
		ID     clixml.GUID
		Record proto.Record
		Size   int
	}
	// PipelineEnded is a pipeline's end, once, after all its records.
	PipelineEnded struct {
		ID    clixml.GUID
		State proto.PipelineState // Completed, Failed or Stopped
		Error *proto.ErrorRecord  // of the server, when it sent one
		Cause error               // of the session, when that is why; State is then Failed
	}
	// PipelineClosed says that nothing of a pipeline is left: its identifier may be forgotten.
	PipelineClosed struct{ ID clixml.GUID }
	// HostCalled is a call of the client's host. When Call.WantsAnswer, Answer is due.
	HostCalled struct {
		ID   clixml.GUID
		Call *proto.HostCall
		Size int
	}
	// Availability answers SetMin, SetMax, Available or Reset.
	Availability struct{ Answer *proto.RunspaceAvailability }
	// UserEvented is an event that the server forwarded.
	UserEvented struct{ Event *proto.UserEvent }
	// KeyNeeded asks for ExchangeKey with a new RSA key of 2048 bits, once. Making it takes long:
	// it is not done here.
	KeyNeeded struct{}
	// Acknowledged says that a target can take more: Queued may have become less.
	Acknowledged struct{ ID clixml.GUID }
)

// Events of the server.
type (
	// Initialized says that a client has opened the pool; the answers are already on their way.
	Initialized struct {
		Version clixml.Version
		Init    *proto.InitRunspacePool
	}
	// Created asks for a pipeline to be run, which ends with Finish.
	Created struct {
		ID       clixml.GUID
		Pipeline *proto.Pipeline
	}
	// MetadataAsked asks for commands, which ends with Finish.
	MetadataAsked struct {
		ID    clixml.GUID
		Query *proto.GetCommandMetadata
	}
	// InputGiven is an object of a pipeline's input. Size is about what it takes in memory.
	InputGiven struct {
		ID    clixml.GUID
		Value clixml.Value
		Size  int
	}
	// InputEnded is the end of a pipeline's input.
	InputEnded struct{ ID clixml.GUID }
	// StopAsked asks for a running pipeline to be stopped: Finish with the state Stopped is due.
	// It comes once, for a Signal and for the Close of a running pipeline.
	StopAsked struct{ ID clixml.GUID }
	// HostAnswered is the answer to a host call.
	HostAnswered struct {
		ID     clixml.GUID
		Answer *proto.HostResponse
	}
	// RunspacesAsked is SetMin, SetMax, Available or Reset: RunspacesAnswer is due.
	RunspacesAsked struct{ Request proto.Message }
	// CloseAsked asks for the session's end: every running pipeline is finished, then FinishClose.
	CloseAsked struct{}
)

func (FragmentsDropped) event() {}
func (KeyExchanged) event()     {}
func (Opened) event()           {}
func (PrivateData) event()      {}
func (PoolEnded) event()        {}
func (Recorded) event()         {}
func (PipelineEnded) event()    {}
func (PipelineClosed) event()   {}
func (HostCalled) event()       {}
func (Availability) event()     {}
func (UserEvented) event()      {}
func (KeyNeeded) event()        {}
func (Acknowledged) event()     {}
func (Initialized) event()      {}
func (Created) event()          {}
func (MetadataAsked) event()    {}
func (InputGiven) event()       {}
func (InputEnded) event()       {}
func (StopAsked) event()        {}
func (HostAnswered) event()     {}
func (RunspacesAsked) event()   {}
func (CloseAsked) event()       {}
