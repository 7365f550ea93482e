package psrp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/quire/psrp"
	"example.com/quire/psrp/host"
	"example.com/quire/psrp/proto"
	"example.com/quire/psrp/psrptest"
)

// A Registry makes Go functions commands, with parameters by the tags of a struct.
func ExampleRegistry() {
	type args struct {
		Path string `psrp:"Path,mandatory,position=0,alias=P"`
		Sort string `psrp:"Sort,set=Name|Size,default=Name"`
		Deep bool   `psrp:"Recurse"`
	}
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Report", Aliases: []string{"gr"}}, func(_ context.Context, a args, c *psrp.Call) error {
		return c.Output(fmt.Sprintf("%s by %s, deep: %v", a.Path, a.Sort, a.Deep))
	})
	s, closeSession := connect(&psrp.Server{Registry: r})
	defer closeSession()
	for text, err := range psrp.Invoke[string](context.Background(), s, psrp.Cmd("gr").Arg("/var").Param("so", "size").Switch("Recurse")) {
		fmt.Println(text, err)
	}
	_, err := s.Run(context.Background(), psrp.Cmd("Get-Report"))
	fmt.Println(err)
	// Output:
	// /var by Size, deep: true <nil>
	// psrp: pipeline Failed: The command lacks its mandatory parameters: Path. [MissingMandatoryParameter,Get-Report]
}

// A Server runs nothing but its commands. Commands pipe into each other.
func ExampleServer() {
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "ConvertTo-Upper"}, func(_ context.Context, _ struct{}, c *psrp.Call) error {
		for text, err := range psrp.Input[string](c) {
			if err != nil {
				return err
			}
			if err := c.Output(strings.ToUpper(text)); err != nil {
				return err
			}
		}
		return nil
	})
	srv := &psrp.Server{
		Registry: r,
		Authorize: func(_ context.Context, id psrp.Identity, _ string) error {
			if id.User == "guest" {
				return errors.New("guests run nothing")
			}
			return nil
		},
	}
	s, closeSession := connect(srv)
	defer closeSession()
	res, err := s.Run(context.Background(), psrp.Cmd("ConvertTo-Upper"), "a", "b")
	fmt.Println(res.Output, err)
	_, err = s.Run(context.Background(), psrp.Script("Get-Process"))
	fmt.Println(errors.Is(err, psrp.ErrScriptsNotAllowed))
	// Output:
	// [A B] <nil>
	// true
}

// A command writes to all streams of its caller and asks the caller's user.
func ExampleCall() {
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "Remove-Site"}, func(ctx context.Context, a struct {
		Name string `psrp:"Name,mandatory,position=0"`
	}, c *psrp.Call,
	) error {
		if err := c.Verbose("looking for " + a.Name); err != nil {
			return err
		}
		prompter := c.Host().Prompter
		if prompter == nil {
			return proto.NewErrorRecord("NobodyToAsk", proto.PermissionDenied, "Nobody can be asked.")
		}
		answer, err := prompter.Choose(ctx, host.ChoiceRequest{Caption: "Remove " + a.Name + "?", Choices: []proto.ChoiceDescription{{Label: "&Yes"}, {Label: "&No"}}})
		if err != nil {
			return err
		}
		if answer[0] != 0 {
			return c.Warning(a.Name + " stays")
		}
		return c.Output(a.Name + " is gone")
	})
	user := host.NewScripted(host.Answer{Method: proto.HostPromptForChoice, Value: []int32{1}})
	s, closeSession := connectAs(&psrp.Server{Registry: r}, psrp.Options{Host: user.Set()})
	defer closeSession()
	res, err := s.Run(context.Background(), psrp.Cmd("Remove-Site").Arg("north").Switch("Verbose"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, record := range res.Records {
		fmt.Println(record.Kind, record.Message.Message)
	}
	// Output:
	// verbose looking for north
	// warning north stays
}

// Scripts come as text with their arguments; a server without a handler refuses them.
func ExampleScriptHandler() {
	srv := &psrp.Server{Scripts: func(_ context.Context, text string, args []psrp.Arg, c *psrp.Call) error {
		if text != "status" {
			return psrp.ErrScriptsNotAllowed
		}
		return c.Output(fmt.Sprint("status of ", args[0].Value))
	}}
	s, closeSession := connect(srv)
	defer closeSession()
	res, err := s.Run(context.Background(), psrp.Script("status").Param("Of", "disk 3"))
	fmt.Println(res.Output, err)
	_, err = s.Run(context.Background(), psrp.Script("rm -r /"))
	fmt.Println(errors.Is(err, psrp.ErrScriptsNotAllowed))
	// Output:
	// [status of disk 3] <nil>
	// true
}

// connect opens a session in memory.
func connect(srv *psrp.Server) (s *psrp.Session, closeSession func()) {
	return connectAs(srv, psrp.Options{})
}

func connectAs(srv *psrp.Server, o psrp.Options) (s *psrp.Session, closeSession func()) {
	client, server := psrptest.Pipe()
	served := make(chan error, 1)
	ctx := context.Background()
	go func() { served <- srv.Serve(ctx, server, psrp.Identity{User: "operator"}) }()
	s, err := psrp.Open(ctx, client, o)
	if err != nil {
		panic(err)
	}
	return s, func() {
		if err := errors.Join(s.Close(ctx), <-served); err != nil {
			fmt.Println(err)
		}
	}
}
