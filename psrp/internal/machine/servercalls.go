package machine

import (
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// running finds a pipeline for a call.
func (s *Server) running(op string, id clixml.GUID, ev int) (*serverPipe, error) {
	if err := s.local(op, spUse); err != nil {
		return nil, err
	}
	p := s.pipelines[id]
	if p == nil {
		return nil, &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("there is no pipeline %v", id)}
	}
	if _, a := serverPipeline.next(p.state, ev); a != move {
		return nil, &proto.LocalProtocolError{Op: op, State: fmt.Sprintf("pipeline %v is %s", id, serverPipeline.states[p.state])}
	}
	return p, nil
}

// Record sends a record of a pipeline.
func (s *Server) Record(id clixml.GUID, r proto.Record) error {
	if _, err := s.running("Record", id, siSend); err != nil {
		return err
	}
	m, err := r.AsMessage()
	if err != nil {
		return err
	}
	if r.Kind == proto.RecordInformation && s.before(2, 3) {
		return nil // clients before 2.3 have no information stream
	}
	return s.send(id, m)
}

// HostCall calls a method of the client's host, for a pipeline or, with a zero id, for the pool.
// It returns the number under which HostAnswered comes, proto.VoidCall for a method without answer.
func (s *Server) HostCall(id clixml.GUID, method proto.HostMethod, params ...clixml.Value) (int64, error) {
	if id.IsZero() {
		if err := s.local("HostCall", spUse); err != nil {
			return 0, err
		}
	} else if _, err := s.running("HostCall", id, siSend); err != nil {
		return 0, err
	}
	if !method.Known() {
		return 0, &proto.LocalProtocolError{Op: "HostCall", State: fmt.Sprintf("there is no method %d", int32(method))}
	}
	ci := proto.VoidCall
	if !method.Void() {
		if len(s.calls) >= s.limits.HostCalls {
			return 0, &proto.LocalProtocolError{Op: "HostCall", State: fmt.Sprintf("%d calls wait for their answers, which is the limit", len(s.calls))}
		}
		ci = s.lastCall + 1
	}
	if err := s.send(id, &proto.HostCall{Pool: id.IsZero(), CallID: ci, Method: method, Params: params}); err != nil {
		return 0, err
	}
	if ci != proto.VoidCall {
		s.lastCall = ci
		s.calls[hostCallKey{id, ci}] = method
	}
	return ci, nil
}

// UserEvent forwards an event.
func (s *Server) UserEvent(e *proto.UserEvent) error {
	if err := s.local("UserEvent", spUse); err != nil {
		return err
	}
	return s.send(clixml.GUID{}, e)
}

// Hold keeps back the acknowledgements of a pipeline's Data, so that its client sends no more, or
// lets them go.
func (s *Server) Hold(id clixml.GUID, hold bool) {
	if p := s.pipelines[id]; p != nil {
		p.held = hold
		s.payPipe(p)
	}
}

// Finish ends a pipeline: with Completed, with Failed and an error, or with Stopped. What waited
// for it is acknowledged.
func (s *Server) Finish(id clixml.GUID, state proto.PipelineState, e *proto.ErrorRecord) error {
	p, err := s.running("Finish", id, siFinish)
	if err != nil {
		return err
	}
	if !state.Terminal() {
		return &proto.LocalProtocolError{Op: "Finish", State: fmt.Sprintf("%v is no end", state)}
	}
	if err := s.send(id, &proto.PipelineStateMessage{State: state, Error: e}); err != nil {
		return err
	}
	p.state, p.input, p.held = siEnded, false, false
	s.payPipe(p)
	s.settle(p)
	return nil
}

// FinishClose answers CloseAsked. Pipelines that still run are ended as Stopped.
func (s *Server) FinishClose() error {
	if err := s.local("FinishClose", spFinishClose); err != nil {
		return err
	}
	for id, p := range s.pipelines {
		if p.state == siRunning || p.state == siStopping {
			if err := s.Finish(id, proto.PipelineStopped, proto.StoppedRecord()); err != nil {
				return err
			}
		}
	}
	for _, p := range s.pipelines {
		s.forget(p)
	}
	// A client that closes before its pool was open is answered by CloseAck alone.
	if s.opened {
		for _, state := range []proto.PoolState{proto.PoolClosing, proto.PoolClosed} {
			if err := s.send(clixml.GUID{}, &proto.RunspacePoolState{State: state}); err != nil {
				return err
			}
		}
	}
	s.control(proto.PacketCloseAck, clixml.GUID{})
	s.step(spFinishClose)
	s.finish(proto.PoolClosed, nil)
	return nil
}

// Break ends the session by a fault of this side: the client is told the pool is Broken, and why.
func (s *Server) Break(e *proto.ErrorRecord) error {
	if err := s.local("Break", spBreak); err != nil {
		return err
	}
	if s.opened {
		if err := s.send(clixml.GUID{}, &proto.RunspacePoolState{State: proto.PoolBroken, Error: e}); err != nil {
			return err
		}
	}
	if s.step(spBreak) == move {
		s.finish(proto.PoolBroken, e)
	}
	return nil
}

// fail breaks the session by a mistake of the peer, who is told no more than that.
func (s *Server) fail(err error) {
	if s.state == spBroken || s.state == spClosed {
		return
	}
	if s.opened {
		_ = s.send(clixml.GUID{}, &proto.RunspacePoolState{
			State: proto.PoolBroken, Error: proto.NewErrorRecord("ProtocolError", proto.ProtocolError, "The server received data that the protocol does not allow."),
		})
	}
	s.state = spBroken
	s.finish(proto.PoolBroken, err)
}

// Lost tells that the transport has ended.
func (s *Server) Lost(err error) {
	if s.step(spRecvEnd) == move {
		s.out = queue[serverPacket]{}
		s.finish(proto.PoolBroken, err)
	}
}

func (s *Server) finish(state proto.PoolState, err error) {
	for _, p := range s.pipelines {
		if p.state == siRunning {
			s.tell(StopAsked{ID: p.id})
		}
		s.forget(p)
	}
	s.in.Release()
	s.release()
	if !s.ended {
		s.ended = true
		s.tell(PoolEnded{State: state, Err: err})
	}
}
