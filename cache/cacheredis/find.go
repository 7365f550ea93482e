package cacheredis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// With Sentinel or Cluster each connection begins with the question where the primary is. All that
// may know are asked at once, and the first answer counts: one that hangs holds up nothing. An
// answer that is out of date does no harm. When Sentinel makes a primary a replica it ends the
// connections to it; a node of a cluster that does not have a slot refuses calls, and one that is
// cut off says that the cluster is down; and the heartbeat of a link asks for the role besides.

// maxAsked is at most how many nodes of a cluster are asked.
const maxAsked = 8

// option is what all connections have in common.
func (c Config) option(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, DisableRetry: true,
		ConnWriteTimeout: c.DialTimeout, Dialer: net.Dialer{Timeout: c.DialTimeout}, ClientSetInfo: rueidis.DisableClientSetInfo,
	}
}

// dial connects to the primary.
func (h *home) dial(ctx context.Context, addr string, d *net.Dialer) (net.Conn, error) {
	c := h.of
	var question question
	switch {
	case c.config.Cluster:
		if moved := h.moved.Swap(nil); moved != nil {
			if conn, err := c.config.connect(ctx, d, *moved); err == nil {
				return conn, nil
			}
		}
		question = h.primaryOfSlot
	case c.config.SentinelMaster != "":
		question = c.config.primaryOfSentinel
	default:
		return c.config.connect(ctx, d, addr)
	}
	addr, err := c.ask(ctx, d, question)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return c.config.connect(ctx, d, addr)
}

// connect dials with Dial and TLS as they are configured.
func (c Config) connect(ctx context.Context, d *net.Dialer, addr string) (net.Conn, error) {
	switch {
	case c.Dial != nil:
		return c.Dial(ctx, addr)
	case c.TLS != nil:
		return (&tls.Dialer{NetDialer: d, Config: c.TLS}).DialContext(ctx, "tcp", addr)
	}
	return d.DialContext(ctx, "tcp", addr)
}

// question asks the server at an address where the primary is.
type question func(ctx context.Context, conn rueidis.Client, at string) (addr string, err error)

// ask asks all that may know.
func (c *Client) ask(ctx context.Context, d *net.Dialer, q question) (addr string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		addr string
		err  error
	}
	c.mu.Lock()
	all := slices.Concat(c.addrs, c.nodes)
	c.mu.Unlock()
	answers := make(chan answer, len(all))
	for _, at := range all {
		go func() {
			addr, err := c.askOne(ctx, d, at, q)
			if err != nil {
				err = fmt.Errorf("%s: %w", at, err)
			}
			answers <- answer{addr, err}
		}()
	}
	var errs []error
	for range all {
		switch a := <-answers; {
		case a.err != nil:
			errs = append(errs, a.err)
		case addr == "":
			addr = a.addr
			cancel() // ends the other questions
		}
	}
	if addr == "" {
		return "", errors.Join(errs...)
	}
	return addr, nil
}

// askOne returns soon after the end of ctx.
func (c *Client) askOne(ctx context.Context, d *net.Dialer, at string, q question) (addr string, err error) {
	o := c.config.option(at)
	if c.config.Cluster {
		o.Username, o.Password = c.config.Username, c.config.Password
	}
	o.DialCtxFn = func(_ context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		conn, err := c.config.connect(ctx, d, addr)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() }) // nothing to lose
		}
		return conn, err
	}
	conn, err := rueidis.NewClient(o)
	if conn != nil {
		defer conn.Close()
	}
	if err != nil {
		return "", err
	}
	return q(ctx, conn, at)
}

func (c Config) primaryOfSentinel(ctx context.Context, conn rueidis.Client, _ string) (addr string, err error) {
	at, err := conn.Do(ctx, conn.B().SentinelGetMasterAddrByName().Master(c.SentinelMaster).Build()).AsStrSlice()
	switch {
	case rueidis.IsRedisNil(err):
		return "", &cache.ConfigError{Field: "SentinelMaster", Got: c.SentinelMaster, Want: "a name that the sentinels know"}
	case err != nil:
		return "", err
	case len(at) != 2:
		return "", malformed("address of length", len(at))
	}
	return net.JoinHostPort(at[0], at[1]), nil
}

// primaryOfSlot finds the server that has the slot of the namespace, and remembers all that have
// any.
func (h *home) primaryOfSlot(ctx context.Context, conn rueidis.Client, at string) (addr string, err error) {
	answers := conn.DoMulti(ctx, conn.B().ClusterKeyslot().Key(metaKey(h.ns)).Build(), conn.B().ClusterInfo().Build(), conn.B().ClusterSlots().Build())
	slot, err1 := answers[0].AsInt64()
	info, err2 := answers[1].ToString()
	ranges, err3 := answers[2].ToArray()
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	if !strings.Contains(info, "cluster_state:ok") {
		return "", errors.New("the node says that the cluster is down")
	}
	var nodes []string
	for _, r := range ranges {
		from, to, some, err := parseSlots(r, at)
		if err != nil {
			return "", err
		}
		if from <= slot && slot <= to {
			addr = some[0]
		}
		for _, node := range some {
			if len(nodes) < maxAsked && !slices.Contains(nodes, node) && !slices.Contains(h.of.addrs, node) {
				nodes = append(nodes, node)
			}
		}
	}
	if addr == "" {
		return "", fmt.Errorf("no node has slot %d", slot)
	}
	h.of.mu.Lock()
	h.of.nodes = nodes
	h.of.mu.Unlock()
	return addr, nil
}

// parseSlots reads a range of slots and the addresses of those that have it, the primary first, as
// the node at that address says it.
func parseSlots(r rueidis.RedisMessage, at string) (from, to int64, nodes []string, err error) {
	parts, err := r.ToArray()
	if err != nil {
		return 0, 0, nil, err
	}
	if len(parts) < 3 {
		return 0, 0, nil, malformed("range of slots of length", len(parts))
	}
	from, err1 := parts[0].AsInt64()
	to, err2 := parts[1].AsInt64()
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, nil, err
	}
	for _, part := range parts[2:] {
		node, err := part.ToArray()
		if err != nil {
			return 0, 0, nil, err
		}
		if len(node) < 2 {
			return 0, 0, nil, malformed("node of length", len(node))
		}
		host, _ := node[0].ToString() // null: the host that was asked
		port, err := node[1].AsInt64()
		if err != nil {
			return 0, 0, nil, err
		}
		if host == "" {
			host, _, _ = net.SplitHostPort(at) // of Config.Addr or made below
		}
		nodes = append(nodes, net.JoinHostPort(host, strconv.FormatInt(port, 10)))
	}
	return from, to, nodes, nil
}
