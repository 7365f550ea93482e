package psrp

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/psrp/clixml"
)

// shape is a kind of object.
type shape struct {
	properties, nesting, length int
	escaped                     int // every so many-th character has to be escaped; 0 none
}

// text is a string of a shape, another one for each k.
func (s shape) text(k int) string {
	b := []byte(fmt.Sprintf("v%05d-", k))
	for len(b) < s.length {
		b = append(b, byte('a'+len(b)%26))
	}
	b = b[:max(s.length, 7)]
	for i := 7; s.escaped > 0 && i < len(b); i += s.escaped {
		b[i] = '<'
	}
	return string(b)
}

// tree is the same data for both sides.
func (s shape) tree(k int) (clixml.Value, map[string]any) {
	o, m := &clixml.Object{}, make(map[string]any, s.properties)
	for p := range s.properties {
		name, text := fmt.Sprintf("Property%d", p), s.text(k*s.properties+p)
		o.Extended = append(o.Extended, clixml.Property{Name: name, Value: clixml.String(text)})
		m[name] = text
	}
	if s.nesting > 1 {
		inner := s
		inner.nesting--
		v, mv := inner.tree(k + 1)
		o.Extended = append(o.Extended, clixml.Property{Name: "Inner", Value: v})
		m["Inner"] = mv
	}
	return o.Value(), m
}

// encoding writes the values that data gives, and reads the last one back to judge it.
func encoding(data func(k int) clixml.Value) maker {
	return func() (job, error) {
		all, err := per(func(k int) (clixml.Value, error) { return data(k), nil })
		if err != nil {
			return job{}, err
		}
		var e clixml.Encoder
		var out []byte
		return job{
			do: func(i int) error {
				var err error
				out, err = e.AppendValue(out[:0], all[i%variants])
				return err
			},
			check: func(i int) error {
				var d clixml.Decoder
				got, err := d.Decode(out)
				// A list or dictionary comes back in an object with its type names.
				if want := all[i%variants]; err == nil && !clixml.Equal(got, want) && !clixml.Equal(got.Base(), want) {
					err = errWrong
				}
				return err
			},
		}, nil
	}
}

func jsonMarshal(data func(k int) any) maker {
	return func() (job, error) {
		all, err := per(func(k int) (any, error) { return data(k), nil })
		if err != nil {
			return job{}, err
		}
		var out []byte
		return job{
			do: func(i int) error {
				var err error
				out, err = json.Marshal(all[i%variants])
				return err
			},
			check: func(int) error {
				if !json.Valid(out) {
					return errWrong
				}
				return nil
			},
		}, nil
	}
}

// values are the rows of CLIXML.
func values() []harness.Row {
	var rows []harness.Row
	for _, p := range []struct {
		n      int
		atMost float64
	}{{1, 0.6}, {10, 0.4}, {50, 0.3}} {
		s := shape{properties: p.n, nesting: 1, length: 8}
		rows = append(rows, row(fmt.Sprintf("serialise-%d", p.n), fmt.Sprintf("serialise %d string properties", p.n), "AppendValue of an object", "json", p.atMost, 0,
			encoding(func(k int) clixml.Value { v, _ := s.tree(k); return v }), jsonMarshal(func(k int) any { _, m := s.tree(k); return m })))
	}
	one := shape{properties: 3, nesting: 1, length: 8}
	numbers := func(k int) *clixml.Dict {
		d := &clixml.Dict{}
		for n := range 4 {
			d.Set(fmt.Sprintf("key%d", n), clixml.Int32(int32(k+n))) //nolint:gosec // G115: small
		}
		return d
	}
	marshal := row("marshal-struct", "a struct of 10 fields to CLIXML", "Marshal", "json", 0.5, 2, marshalStruct, jsonMarshal(func(k int) any { r := record(k); return &r }))
	marshal.Contestants[0].Note = "what comes out is an object with its properties, in two pieces of memory that hold pointers: " +
		"to allocate these alone takes most of what the goal allows; json appends text to memory that it keeps"
	rows = append(rows,
		row("serialise-reference", "serialise one object three times, by reference", "AppendValue of a list that holds one object three times", "json", 0.5, 0,
			encoding(func(k int) clixml.Value {
				v, _ := one.tree(k)
				return (&clixml.List{Items: []clixml.Value{v, v, v}}).Value()
			}), jsonMarshal(func(k int) any { _, m := one.tree(k); return []any{m, m, m} })),
		row("serialise-string", "serialise a string", "AppendValue of 20 characters", "json", 0.7, 0,
			encoding(func(k int) clixml.Value { return clixml.String(shape{length: 20}.text(k)) }), jsonMarshal(func(k int) any { return shape{length: 20}.text(k) })),
		row("serialise-int", "serialise an Int32", "AppendValue of a number", "json", 0.7, 0,
			encoding(func(k int) clixml.Value { return clixml.Int32(int32(k * 1001)) }), jsonMarshal(func(k int) any { return k * 1001 })), //nolint:gosec // G115: small
		row("serialise-hashtable", "serialise a hashtable of 4", "AppendValue of a dictionary", "json", 0.7, 0,
			encoding(func(k int) clixml.Value { return numbers(k).Value() }),
			jsonMarshal(func(k int) any { return map[string]int{"key0": k, "key1": k + 1, "key2": k + 2, "key3": k + 3} })),
		row("deserialise-1", "deserialise 1 property", "Decode of an object", "json", 1, 8, decoding(shape{properties: 1, nesting: 1, length: 8}), jsonUnmarshal(shape{properties: 1, nesting: 1, length: 8})),
		marshal,
		row("unmarshal-struct", "a struct of 10 fields from CLIXML", "Unmarshal of a decoded value", "json", 1, 11, unmarshalStruct, jsonUnmarshalStruct),
	)
	for _, n := range []int{10, 1000, 100_000} {
		r := row(fmt.Sprintf("graph-%d", n), fmt.Sprintf("a graph of %d shared objects", n), "objects of 2 properties, each referred to once more, written and read", "tens", 1.5, -1, graphs(n, n), graphs(10, n))
		r.Contestants[1].Own, r.Contestants[1].Note = true, "as many objects in graphs of 10"
		rows = append(rows, r)
	}
	return append(rows, row("bulk-decode", "10 MB of objects", "10 MB of 10-property objects are decoded one after the other", "xml-tokens", 0.15, -1, bulk, bulkTokens))
}

func decoding(s shape) maker {
	return func() (job, error) {
		var e clixml.Encoder
		bodies, err := per(func(k int) ([]byte, error) { v, _ := s.tree(k); return e.AppendValue(nil, v) })
		if err != nil {
			return job{}, err
		}
		var d clixml.Decoder
		var got clixml.Value
		return job{
			do: func(i int) error {
				var err error
				got, err = d.Decode(bodies[i%variants])
				return err
			},
			check: func(i int) error {
				if want, _ := s.tree(i % variants); !clixml.Equal(got, want) {
					return errWrong
				}
				return nil
			},
		}, nil
	}
}

func jsonUnmarshal(s shape) maker {
	return func() (job, error) {
		bodies, err := per(func(k int) ([]byte, error) { _, m := s.tree(k); return json.Marshal(m) })
		if err != nil {
			return job{}, err
		}
		var got map[string]any
		return job{
			do: func(i int) error {
				got = nil
				return json.Unmarshal(bodies[i%variants], &got)
			},
			check: func(i int) error {
				if _, want := s.tree(i % variants); !reflect.DeepEqual(got, want) {
					return errWrong
				}
				return nil
			},
		}, nil
	}
}

// disk has ten fields.
type disk struct {
	Name, Label, Format, Path, Serial string
	Size, Free                        uint64
	Number                            int32
	Online, ReadOnly                  bool
}

func record(k int) disk {
	t := shape{length: 12}.text
	return disk{t(k), t(k + 1), "NTFS", t(k + 2), t(k + 3), uint64(k) << 30, uint64(k) << 20, int32(k), true, k%2 == 0} //nolint:gosec // G115: small
}

func marshalStruct() (job, error) {
	all, err := per(func(k int) (disk, error) { return record(k), nil })
	if err != nil {
		return job{}, err
	}
	var got clixml.Value
	return job{
		do: func(i int) error {
			var err error
			got, err = clixml.Marshal(&all[i%variants])
			return err
		},
		check: func(i int) error {
			var back disk
			if err := clixml.Unmarshal(got, &back); err != nil {
				return err
			}
			if back != all[i%variants] {
				return errWrong
			}
			return nil
		},
	}, nil
}

func unmarshalStruct() (job, error) {
	all, err := per(func(k int) (clixml.Value, error) { return clixml.Marshal(record(k)) })
	if err != nil {
		return job{}, err
	}
	var got disk
	return job{
		do:    func(i int) error { got = disk{}; return clixml.Unmarshal(all[i%variants], &got) },
		check: func(i int) error { return same(got, record(i%variants)) },
	}, nil
}

func jsonUnmarshalStruct() (job, error) {
	all, err := per(func(k int) ([]byte, error) { return json.Marshal(record(k)) })
	if err != nil {
		return job{}, err
	}
	var got disk
	return job{
		do:    func(i int) error { got = disk{}; return json.Unmarshal(all[i%variants], &got) },
		check: func(i int) error { return same(got, record(i%variants)) },
	}, nil
}

func same[T comparable](got, want T) error {
	if got != want {
		return errWrong
	}
	return nil
}

// graphs writes and reads graphs of n objects, each in a list twice, until total objects have been.
func graphs(n, total int) maker {
	return func() (job, error) {
		s := shape{properties: 2, nesting: 1, length: 8}
		list := &clixml.List{}
		for k := range n {
			v, _ := s.tree(k)
			list.Items = append(list.Items, v)
		}
		list.Items = append(list.Items, list.Items...)
		var e clixml.Encoder
		var d clixml.Decoder
		var out []byte
		var got clixml.Value
		return job{
			slow: true,
			do: func(int) error {
				for range max(1, total/n) {
					var err error
					if out, err = e.AppendValue(out[:0], list.Value()); err != nil {
						return err
					}
					if got, err = d.Decode(out); err != nil {
						return err
					}
				}
				return nil
			},
			check: func(int) error {
				l, ok := got.List()
				if !ok || len(l.Items) != 2*n {
					return errWrong
				}
				first, _ := l.Items[n-1].Object()
				again, _ := l.Items[2*n-1].Object()
				return same(first, again)
			},
		}, nil
	}
}

const bulkSize = 10 << 20

// bulkBodies are objects of bulkSize in all.
func bulkBodies() ([][]byte, error) {
	s := shape{properties: 10, nesting: 1, length: 8}
	var e clixml.Encoder
	var all [][]byte
	for k, size := 0, 0; size < bulkSize; k++ {
		v, _ := s.tree(k)
		b, err := e.AppendValue(nil, v)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
		size += len(b)
	}
	return all, nil
}

func bulkTokens() (job, error) {
	bodies, err := bulkBodies()
	if err != nil {
		return job{}, err
	}
	elements := 0
	return job{
		slow: true,
		do: func(int) error {
			elements = 0
			for _, b := range bodies {
				n, err := tokens(b)
				if err != nil {
					return err
				}
				elements += n
			}
			return nil
		},
		check: func(int) error {
			if elements < 11*len(bodies) {
				return errWrong
			}
			return nil
		},
	}, nil
}

// tokens scans a document and counts its elements.
func tokens(b []byte) (n int, err error) {
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if _, ok := t.(xml.StartElement); ok {
			n++
		}
	}
}

// grid varies one axis of an object at a time, there and back.
func grid() []harness.Row {
	var rows []harness.Row
	base := shape{properties: 10, nesting: 1, length: 8}
	add := func(name string, s shape) {
		rows = append(rows, row("grid-"+name, "there and back: "+strings.ReplaceAll(name, "-", " "), "AppendValue and Decode of one object", "json", 0, -1, thereAndBack(s), jsonThereAndBack(s)))
	}
	for _, n := range []int{1, 10, 50, 500} {
		s := base
		s.properties = n
		add(fmt.Sprintf("properties-%d", n), s)
	}
	deep, long, longest, few, many := base, base, base, base, base
	deep.nesting = 5
	long.length, longest.length, few.length, many.length = 100, 10_000, 100, 100
	few.escaped, many.escaped = 100, 2
	add("nesting-5", deep)
	add("length-100", long)
	add("length-10000", longest)
	add("escapes-1%", few)
	add("escapes-50%", many)
	return rows
}

func thereAndBack(s shape) maker {
	return func() (job, error) {
		all, err := per(func(k int) (clixml.Value, error) { v, _ := s.tree(k); return v, nil })
		if err != nil {
			return job{}, err
		}
		var e clixml.Encoder
		var d clixml.Decoder
		var out []byte
		var got clixml.Value
		return job{
			do: func(i int) error {
				var err error
				if out, err = e.AppendValue(out[:0], all[i%variants]); err == nil {
					got, err = d.Decode(out)
				}
				return err
			},
			check: gives(&got, all, clixml.Equal),
		}, nil
	}
}

func jsonThereAndBack(s shape) maker {
	return func() (job, error) {
		all, err := per(func(k int) (map[string]any, error) { _, m := s.tree(k); return m, nil })
		if err != nil {
			return job{}, err
		}
		var got map[string]any
		return job{
			do: func(i int) error {
				b, err := json.Marshal(all[i%variants])
				if err != nil {
					return err
				}
				got = nil
				return json.Unmarshal(b, &got)
			},
			check: gives(&got, all, func(a, b map[string]any) bool { return reflect.DeepEqual(a, b) }),
		}, nil
	}
}
