package proto

import "example.com/quire/psrp/clixml"

// Coordinates are a place in a console's buffer, in cells from the left and the top.
type Coordinates struct{ X, Y int32 }

// Size is the size of a console's window or buffer, in cells.
type Size struct{ Width, Height int32 }

// HostInfo tells a server what host the client has (MS-PSRP 2.2.3.14). The zero HostInfo is a whole
// host without RawUI data.
type HostInfo struct {
	Null, UINull, RawUINull bool
	// UseRunspaceHost, in CREATE_PIPELINE, means the host of the pool.
	UseRunspaceHost bool
	// Default are the answers to the RawUI's getters, so that the server need not ask.
	Default *HostDefaultData
}

// NoHost is the HostInfo of a client without any host: the server makes no calls.
func NoHost() HostInfo { return HostInfo{Null: true, UINull: true, RawUINull: true} }

// HostDefaultData are the console's properties when the pool opens.
type HostDefaultData struct {
	Foreground, Background       ConsoleColor
	Cursor, WindowPosition       Coordinates
	CursorSize                   int32 // percent of a cell
	Buffer, Window               Size
	MaxWindow, MaxPhysicalWindow Size
	Title                        string
}

// hostProperties are the properties of a console. Their places are the keys of the default data's
// dictionary (MS-PSRP 2.2.3.14); get answers a property, and set, which is 0 when nothing changes
// it, takes it.
var hostProperties = [...]struct {
	get, set HostMethod
	typeName string
	in       func(*HostDefaultData) any
}{
	{HostGetForegroundColor, HostSetForegroundColor, "System.ConsoleColor", func(d *HostDefaultData) any { return &d.Foreground }},
	{HostGetBackgroundColor, HostSetBackgroundColor, "System.ConsoleColor", func(d *HostDefaultData) any { return &d.Background }},
	{HostGetCursorPosition, HostSetCursorPosition, hostTypes + "Coordinates", func(d *HostDefaultData) any { return &d.Cursor }},
	{HostGetWindowPosition, HostSetWindowPosition, hostTypes + "Coordinates", func(d *HostDefaultData) any { return &d.WindowPosition }},
	{HostGetCursorSize, HostSetCursorSize, "System.Int32", func(d *HostDefaultData) any { return &d.CursorSize }},
	{HostGetBufferSize, HostSetBufferSize, hostTypes + "Size", func(d *HostDefaultData) any { return &d.Buffer }},
	{HostGetWindowSize, HostSetWindowSize, hostTypes + "Size", func(d *HostDefaultData) any { return &d.Window }},
	{HostGetMaxWindowSize, 0, hostTypes + "Size", func(d *HostDefaultData) any { return &d.MaxWindow }},
	{HostGetMaxPhysicalWindowSize, 0, hostTypes + "Size", func(d *HostDefaultData) any { return &d.MaxPhysicalWindow }},
	{HostGetWindowTitle, HostSetWindowTitle, "System.String", func(d *HostDefaultData) any { return &d.Title }},
}

const hostTypes = "System.Management.Automation.Host."

// Property returns what the getter m of a RawUI answers, or what its setter m takes; false for a
// method that is neither.
func (d *HostDefaultData) Property(m HostMethod) (v clixml.Value, ok bool) {
	p := d.property(m)
	if p == nil {
		return v, false
	}
	return propertyValue(p), true
}

// SetProperty reads what the getter m answered, or what the setter m was given.
func (d *HostDefaultData) SetProperty(m HostMethod, v clixml.Value) error {
	return readProperty(d.property(m), v)
}

// property points at what a getter or setter is about.
func (d *HostDefaultData) property(m HostMethod) any {
	for _, p := range hostProperties {
		if m != 0 && (m == p.get || m == p.set) {
			return p.in(d)
		}
	}
	return nil
}

func propertyValue(p any) clixml.Value {
	switch p := p.(type) {
	case *ConsoleColor:
		return clixml.Int32(int32(*p))
	case *int32:
		return clixml.Int32(*p)
	case *string:
		return clixml.String(*p)
	default:
		return p.(interface{ Value() clixml.Value }).Value()
	}
}

func readProperty(p any, v clixml.Value) (err error) {
	switch p := p.(type) {
	case *ConsoleColor:
		var n int32
		n, err = Int32Of(v)
		*p = ConsoleColor(n)
	case *int32:
		*p, err = Int32Of(v)
	case *string:
		*p, err = TextOf(v)
	case *Coordinates:
		*p, err = CoordinatesOf(v)
	case *Size:
		*p, err = SizeOf(v)
	}
	return err
}

func (h HostInfo) value() clixml.Value {
	p := []clixml.Property{
		prop("_isHostUINull", clixml.Bool(h.UINull)), prop("_isHostRawUINull", clixml.Bool(h.RawUINull)), prop("_isHostNull", clixml.Bool(h.Null)),
	}
	if d := h.Default; d != nil {
		dict := &clixml.Dict{}
		for key := len(hostProperties) - 1; key >= 0; key-- { // as PowerShell 7 writes them
			p := hostProperties[key]
			dict.Entries = append(dict.Entries, clixml.Entry{
				Key: clixml.Int(int64(key)), Value: object(prop("T", clixml.String(p.typeName)), prop("V", propertyValue(p.in(d)))),
			})
		}
		p = append(p, prop("_hostDefaultData", object(prop("data",
			(&clixml.Object{TypeNames: clixml.HashtableTypes(), Base: dict.Value()}).Value()))))
	}
	return object(append(p, prop("_useRunspaceHost", clixml.Bool(h.UseRunspaceHost)))...)
}

func hostInfoOf(parent *fields, v clixml.Value) HostInfo {
	if v.IsNil() {
		return NoHost()
	}
	f := fields{v: v}
	h := HostInfo{
		Null: f.bool("_isHostNull"), UINull: f.bool("_isHostUINull"), RawUINull: f.bool("_isHostRawUINull"),
		UseRunspaceHost: f.optBool("_useRunspaceHost"),
	}
	if data := f.opt("_hostDefaultData"); !data.IsNil() {
		h.Default = hostDefaultDataOf(&f, data)
	}
	parent.take(&f)
	return h
}

func hostDefaultDataOf(f *fields, v clixml.Value) *HostDefaultData {
	inner, _ := v.Get("data")
	d, ok := inner.Dict()
	if !ok {
		f.fail("_hostDefaultData", "no dictionary")
		return nil
	}
	h := &HostDefaultData{}
	for _, e := range d.Entries {
		key, ok := e.Key.Int()
		part := fields{v: e.Value}
		v := part.get("V")
		if ok && key >= 0 && key < int64(len(hostProperties)) {
			switch p := hostProperties[key].in(h).(type) {
			case *ConsoleColor, *string:
				_ = readProperty(p, v) // an odd one is only shown wrongly
			default:
				if err := readProperty(p, v); err != nil {
					part.fail("V", "%v", err)
				}
			}
		}
		f.take(&part)
	}
	return h
}

// Value returns the encoded form of a host call's parameter.
func (c Coordinates) Value() clixml.Value {
	return object(prop("x", clixml.Int32(c.X)), prop("y", clixml.Int32(c.Y)))
}

// Value returns the encoded form of a host call's parameter.
func (s Size) Value() clixml.Value {
	return object(prop("width", clixml.Int32(s.Width)), prop("height", clixml.Int32(s.Height)))
}
