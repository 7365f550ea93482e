package clixml_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/quire/psrp/clixml"
)

type driveKind int

func (k driveKind) String() string { return [...]string{"Unknown", "Fixed", "Network"}[k] }

type disk struct {
	_    struct{}  `clixml:",type=Quire.Disk"`
	Name string    `clixml:"Name"`
	Size uint64    `clixml:"Size,props"`
	Free *int64    `clixml:",omitempty"`
	Kind driveKind `clixml:"Kind,enum=System.IO.DriveType"`
}

func (d disk) String() string { return "disk " + d.Name }

func TestStructsAreObjectsByTheirTags(t *testing.T) {
	free := int64(5)
	v, err := clixml.Marshal(&disk{Name: "C", Size: math.MaxUint64, Free: &free, Kind: 1})
	if err != nil {
		t.Fatal(err)
	}
	const want = `<Obj RefId="0"><TN RefId="0"><T>Quire.Disk</T><T>System.Object</T></TN><ToString>disk C</ToString><Props><U64 N="Size">18446744073709551615</U64></Props>` +
		`<MS><S N="Name">C</S><I64 N="Free">5</I64><Obj N="Kind" RefId="1"><TN RefId="1"><T>System.IO.DriveType</T><T>System.Enum</T><T>System.ValueType</T><T>System.Object</T></TN><ToString>Fixed</ToString><I32>1</I32></Obj></MS></Obj>`
	if got := encode(t, v); got != want {
		t.Errorf("written\n%s\nwant\n%s", got, want)
	}
	var back disk
	if err := clixml.Unmarshal(decode(t, want), &back); err != nil || back.Name != "C" || back.Size != math.MaxUint64 || *back.Free != 5 || back.Kind != 1 {
		t.Errorf("read back %+v, %v", back, err)
	}
	v, err = clixml.Marshal(disk{Name: "D"})
	if _, ok := v.Get("Free"); ok || err != nil {
		t.Errorf("an empty field with omitempty is written: %v", err)
	}
}

type base struct{ ID int }

type everything struct {
	base
	*Embedded
	B     bool
	I     int
	I8    int8
	I16   int16
	I64   int64
	U     uint
	U8    uint8
	U16   uint16
	U32   uint32
	F32   float32
	F64   float64
	S     string
	Bytes []byte
	Array [2]byte
	List  []string
	Map   map[string]int
	Keys  map[int32]bool
	Time  time.Time
	Span  time.Duration
	GUID  clixml.GUID
	Char  clixml.Char
	Dec   clixml.Decimal
	DT    clixml.DateTime
	TS    clixml.TimeSpan
	Ver   clixml.Version
	XML   clixml.XMLText
	Code  clixml.ScriptBlock
	URI   clixml.URI
	Cred  clixml.Credential
	Sec   *clixml.SecureString
	Big   *big.Int
	Val   clixml.Value
	Obj   *clixml.Object
	Any   any
	Ptr   *int16
	Nil   *int16
	Inner struct{ X int }
	Text  int           `clixml:",string"`
	Wait  time.Duration `clixml:",string"`
	Off   string        `clixml:"-"`
}

type Embedded struct{ Deep string }

func TestEveryGoTypeGoesThereAndBack(t *testing.T) {
	n := int16(-3)
	secret := clixml.NewSecureString("s")
	in := everything{
		base: base{1}, Embedded: &Embedded{"deep"}, B: true, I: math.MaxInt32, I8: -8, I16: -16, I64: -64, U: 7, U8: 8, U16: 16, U32: 32, F32: 1.5, F64: 2.5, S: "text",
		Bytes: []byte{1, 2}, Array: [2]byte{3, 4}, List: []string{"a", "b"}, Map: map[string]int{"x": 1, "y": 2}, Keys: map[int32]bool{1: true},
		Time: time.Date(2026, 11, 21, 1, 2, 3, 400, time.UTC), Span: 90 * time.Second, GUID: clixml.GUID{1}, Char: 'c', Dec: mustDecimal("1.50"),
		DT: clixml.DateTime{Ticks: 5, Kind: clixml.DateLocal, Offset: 60}, TS: 7, Ver: clixml.NewVersion(1, 2), XML: "<a/>", Code: "$x", URI: "u:",
		Cred: clixml.Credential{User: "u", Password: secret}, Sec: secret, Big: big.NewInt(1 << 40), Val: clixml.Int8(1), Obj: &clixml.Object{}, Any: "any", Ptr: &n, Text: 42, Wait: time.Minute, Off: "off",
	}
	in.Inner.X = 9
	v, err := clixml.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out everything
	if err := clixml.Unmarshal(v, &out); err != nil {
		t.Fatal(err)
	}
	if out.Off != "" || !clixml.Equal(out.Val, in.Val) || out.Big.Cmp(in.Big) != 0 || !out.Time.Equal(in.Time) {
		t.Errorf("read back %+v", out)
	}
	in.Off, in.Val, out.Val, in.Big, out.Big, in.Time, out.Time = "", clixml.Value{}, clixml.Value{}, nil, nil, time.Time{}, time.Time{}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("read back\n%+v\nwant\n%+v", out, in)
	}
	dict, _ := v.Get("Map")
	if got := encode(t, dict); !strings.Contains(got, `<S N="Key">x</S><I32 N="Value">1</I32></En><En><S N="Key">y</S>`) {
		t.Errorf("the map is written %s", got)
	}
}

func TestNothingClamps(t *testing.T) {
	for in, want := range map[any]clixml.Kind{
		int(math.MaxInt32): clixml.KindInt32, int(math.MaxInt32 + 1): clixml.KindInt64, int64(1): clixml.KindInt64, uint(math.MaxUint32): clixml.KindUint32,
		uint(math.MaxUint32 + 1): clixml.KindUint64, uint64(math.MaxInt64 + 1): clixml.KindUint64, float32(1): clixml.KindFloat32, float64(1): clixml.KindFloat64, int(math.MinInt32 - 1): clixml.KindInt64,
	} {
		if v, err := clixml.Marshal(in); err != nil || v.Kind() != want {
			t.Errorf("%T %v becomes %v, %v", in, in, v.Kind(), err)
		}
	}
	type Disk struct {
		Free int64
		List []struct{ N int8 }
		Map  map[string]uint8
		F    float32
		D    time.Duration
	}
	prop := func(name string, v clixml.Value) clixml.Value {
		return clixml.NewCustomObject(clixml.Property{Name: name, Value: v}).Value()
	}
	for _, tt := range []struct {
		v    clixml.Value
		want string
	}{
		{prop("Free", clixml.Uint64(math.MaxInt64+1)), "clixml: Disk.Free: U64 9223372036854775808 overflows int64"},
		{prop("Free", clixml.String("x")), `clixml: Disk.Free: S "x" does not fit int64`},
		{prop("Free", clixml.Float64(1.5)), "clixml: Disk.Free: Db 1.5 does not fit int64"},
		{prop("List", clixml.NewList(prop("N", clixml.Int32(1)), prop("N", clixml.Int32(128))).Value()), "clixml: Disk.List[1].N: I32 128 overflows int8"},
		{prop("Map", (&clixml.Dict{Entries: []clixml.Entry{{Key: clixml.String("k"), Value: clixml.Int32(-1)}}}).Value()), "clixml: Disk.Map[k]: I32 -1 overflows uint8"},
		{prop("F", clixml.Float64(0.1)), "clixml: Disk.F: Db 0.1 is not exact as float32"},
		{prop("D", clixml.TimeSpan(math.MaxInt64).Value()), "clixml: Disk.D: TS P10675199DT2H48M5.4775807S overflows time.Duration"},
	} {
		err := clixml.Unmarshal(tt.v, &Disk{})
		if _, ok := errors.AsType[*clixml.FieldError](err); !ok || err.Error() != tt.want {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
	if err := clixml.Unmarshal(clixml.Int32(1), Disk{}); err == nil {
		t.Error("stored in what is no pointer")
	}
}

func TestReadingIsWideWhereNothingIsLost(t *testing.T) {
	enum := clixml.NewEnum("System.IO.DriveType", "Fixed", 3).Value()
	for _, tt := range []struct {
		v    clixml.Value
		into any
		want any
	}{
		{clixml.Uint8(5), new(int), 5},
		{enum, new(int), 3},
		{enum, new(string), "Fixed"},
		{clixml.Float32(0.5), new(float64), 0.5},
		{clixml.Int32(3), new(float64), 3.0},
		{mustDecimal("2.5").Value(), new(float64), 2.5},
		{clixml.URI("u").Value(), new(string), "u"},
		{clixml.Char('x').Value(), new(string), "x"},
		{clixml.Nil(), new(int), 0},
		{clixml.NewVersion(1, 2).Value(), new(string), "1.2"},
		{(&clixml.Object{Base: clixml.String("s")}).Value(), new(string), "s"},
		{clixml.Nil(), &[]string{"x"}, []string(nil)},
		{clixml.NewList(clixml.Int32(1), clixml.Nil(), clixml.String("a")).Value(), new(any), []any{int32(1), nil, "a"}},
		{clixml.NewCustomObject(clixml.Property{Name: "A", Value: enum}).Value(), new(any), map[string]any{"A": int32(3)}},
		{(&clixml.Dict{Entries: []clixml.Entry{{Key: clixml.Int32(1), Value: clixml.Bool(true)}}}).Value(), new(any), map[string]any{"1": true}},
		{clixml.NewCustomObject(clixml.Property{Name: "A", Value: clixml.Int32(1)}).Value(), new(map[string]int), map[string]int{"A": 1}},
	} {
		if err := clixml.Unmarshal(tt.v, tt.into); err != nil {
			t.Errorf("%v into %T: %v", tt.v, tt.into, err)
		} else if got := reflect.ValueOf(tt.into).Elem().Interface(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v into %T is %#v, want %#v", tt.v, tt.into, got, tt.want)
		}
	}
}

type node struct {
	Name string
	Next *node
}

func TestSharedPointersAndCyclesBecomeReferences(t *testing.T) {
	a := &node{Name: "a"}
	a.Next = &node{Name: "b", Next: a}
	v, err := clixml.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, v); strings.Count(got, "<Ref ") != 1 {
		t.Errorf("written %s", got)
	}
	many := make([]*node, 20)
	for i := range many {
		many[i] = &node{}
	}
	v, err = clixml.Marshal(append(many, many...))
	if got := encode(t, v); err != nil || strings.Count(got, "<Ref ") != 20 {
		t.Errorf("written %s, %v", got, err)
	}
	var endless any
	endless = &endless
	if _, err := clixml.Marshal(endless); err == nil {
		t.Error("an endless pointer has a value")
	}
}

type celsius float64

func (c celsius) MarshalCLIXML() (clixml.Value, error) { return clixml.Float64(float64(c) + 273), nil }

func (c *celsius) UnmarshalCLIXML(v clixml.Value) error {
	f, ok := v.Float64()
	if !ok {
		return errors.New("no temperature")
	}
	*c = celsius(f - 273)
	return nil
}

func TestTypesMayHaveAFormOfTheirOwn(t *testing.T) {
	type room struct{ T celsius }
	v, err := clixml.Marshal(room{20})
	if x, _ := v.Get("T"); err != nil || x.String() != "293" {
		t.Errorf("%v, %v", v, err)
	}
	var back room
	if err := clixml.Unmarshal(v, &back); err != nil || back.T != 20 {
		t.Errorf("%v, %v", back, err)
	}
	err = clixml.Unmarshal(clixml.NewCustomObject(clixml.Property{Name: "T", Value: clixml.Nil()}).Value(), &back)
	if e, ok := errors.AsType[*clixml.FieldError](err); !ok || e.Path != "room.T" {
		t.Errorf("error %v", err)
	}
}

func TestTypesThatCannotBeMappedAreNamed(t *testing.T) {
	for _, x := range []any{
		make(chan int), struct{ F func() }{}, struct {
			A int `clixml:"X"`
			B int `clixml:"X"`
		}{}, struct {
			A int `clixml:",what"`
		}{}, struct {
			a int `clixml:"A"`
		}{}, math.MaxInt, map[string]any{"k": make(chan int)}, time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), new(big.Int).Lsh(big.NewInt(1), 100),
	} {
		if _, isInt := x.(int); isInt {
			continue
		}
		v, err := clixml.Marshal(x)
		if _, ok := errors.AsType[*clixml.FieldError](err); !ok {
			t.Errorf("%T becomes %v, %v", x, v, err)
		}
	}
}

func TestPlansAreMadeOnceForAllGoroutines(t *testing.T) {
	type fresh struct{ A, B, C int }
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			v, err := clixml.Marshal(fresh{1, 2, 3})
			var back fresh
			if err != nil || clixml.Unmarshal(v, &back) != nil || back.C != 3 {
				t.Errorf("%v, %v", back, err)
			}
		})
	}
	wg.Wait()
}

func TestJSONOfEveryKind(t *testing.T) {
	for want, v := range map[string]clixml.Value{
		`null`: clixml.Nil(), `"a\n"`: clixml.String("a\n"), `18446744073709551615`: clixml.Uint64(math.MaxUint64), `1.50`: mustDecimal("1.50").Value(), `"NaN"`: clixml.Float64(math.NaN()),
		`"AAE="`: clixml.Bytes([]byte{0, 1}), `3`: clixml.NewEnum("E", "x", 3).Value(), `[1,null]`: clixml.NewList(clixml.Int32(1), clixml.Nil()).Value(), `"PT1S"`: clixml.NewTimeSpan(time.Second).Value(),
		`{"1":true}`: (&clixml.Dict{Entries: []clixml.Entry{{Key: clixml.Int32(1), Value: clixml.Bool(true)}}}).Value(), `"x"`: (&clixml.Object{ToString: "x", HasToString: true}).Value(),
		`{"A":2}`:                                (&clixml.Object{Adapted: clixml.Properties{{Name: "A", Value: clixml.Int32(1)}}, Extended: clixml.Properties{{Name: "A", Value: clixml.Int32(2)}}}).Value(),
		`"ab000000-0000-0000-0000-000000000001"`: clixml.GUID{0: 0xAB, 15: 1}.Value(), `1E+17`: clixml.Float64(1e17), `"1.2"`: clixml.NewVersion(1, 2).Value(), `"c"`: clixml.Char('c').Value(),
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want && string(got) != strings.ToLower(want) {
			t.Errorf("%v is %s, %v, want %s", v, got, err, want)
		}
	}
}
