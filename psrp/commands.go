package psrp

import (
	"cmp"
	"context"
	"fmt"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// CommandMetadata describes a command of a server.
type CommandMetadata = proto.CommandMetadata

// CommandQuery asks for commands; the zero query asks for all.
type CommandQuery struct {
	Names   []string // with * and ?
	Types   proto.CommandTypes
	Modules []string
}

// Commands asks the server which commands it has.
func (s *Session) Commands(ctx context.Context, q CommandQuery) ([]CommandMetadata, error) {
	names := q.Names
	if len(names) == 0 {
		names = []string{"*"}
	}
	types := cmp.Or(q.Types, proto.CommandAll)
	r, err := s.start(ctx, func(id clixml.GUID) error {
		return s.machine.Metadata(id, &proto.GetCommandMetadata{Names: names, Types: types, Modules: q.Modules})
	})
	if err != nil {
		return nil, err
	}
	var all []CommandMetadata
	count := -1
	for rec, err := range r.Records() {
		if err != nil {
			return all, err
		}
		if rec.Kind == proto.RecordError {
			return all, &PipelineError{State: proto.PipelineCompleted, Record: rec.Error}
		}
		if rec.Kind != proto.RecordOutput {
			continue
		}
		if count < 0 {
			n, ok := proto.MetadataCount(rec.Output)
			if !ok {
				return nil, &RemoteProtocolError{Stage: "metadata", Type: proto.MessageGetCommandMetadata, Offset: -1, Err: fmt.Errorf("the first answer is %v, not the number of those that follow", rec.Output.Kind())}
			}
			count = n
			continue
		}
		m, err := proto.CommandMetadataOf(rec.Output)
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}
