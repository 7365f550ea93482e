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

// The keys of the default data's dictionary (MS-PSRP 2.2.3.14).
const (
	hostForeground = iota
	hostBackground
	hostCursor
	hostWindowPosition
	hostCursorSize
	hostBufferSize
	hostWindowSize
	hostMaxWindow
	hostMaxPhysicalWindow
	hostTitle
)

const hostTypes = "System.Management.Automation.Host."

func (h HostInfo) value() clixml.Value {
	p := []clixml.Property{
		prop("_isHostUINull", clixml.Bool(h.UINull)), prop("_isHostRawUINull", clixml.Bool(h.RawUINull)), prop("_isHostNull", clixml.Bool(h.Null)),
	}
	if d := h.Default; d != nil {
		dict := &clixml.Dict{}
		add := func(key int32, typeName string, v clixml.Value) {
			dict.Entries = append(dict.Entries, clixml.Entry{
				Key: clixml.Int32(key), Value: object(prop("T", clixml.String(typeName)), prop("V", v)),
			})
		}
		// From the highest key down, as PowerShell 7 writes them.
		add(hostTitle, "System.String", clixml.String(d.Title))
		add(hostMaxPhysicalWindow, hostTypes+"Size", d.MaxPhysicalWindow.Value())
		add(hostMaxWindow, hostTypes+"Size", d.MaxWindow.Value())
		add(hostWindowSize, hostTypes+"Size", d.Window.Value())
		add(hostBufferSize, hostTypes+"Size", d.Buffer.Value())
		add(hostCursorSize, "System.Int32", clixml.Int32(d.CursorSize))
		add(hostWindowPosition, hostTypes+"Coordinates", d.WindowPosition.Value())
		add(hostCursor, hostTypes+"Coordinates", d.Cursor.Value())
		add(hostBackground, "System.ConsoleColor", clixml.Int32(int32(d.Background)))
		add(hostForeground, "System.ConsoleColor", clixml.Int32(int32(d.Foreground)))
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
		key, _ := e.Key.Int()
		part := fields{v: e.Value}
		val := part.get("V")
		n, _ := val.Int()
		color := ConsoleColor(n) //nolint:gosec // G115: an odd colour is only shown wrongly
		switch key {
		case hostForeground:
			h.Foreground = color
		case hostBackground:
			h.Background = color
		case hostCursor:
			h.Cursor = coordinatesOf(&part, val)
		case hostWindowPosition:
			h.WindowPosition = coordinatesOf(&part, val)
		case hostCursorSize:
			h.CursorSize = part.int32("V")
		case hostBufferSize:
			h.Buffer = sizeOf(&part, val)
		case hostWindowSize:
			h.Window = sizeOf(&part, val)
		case hostMaxWindow:
			h.MaxWindow = sizeOf(&part, val)
		case hostMaxPhysicalWindow:
			h.MaxPhysicalWindow = sizeOf(&part, val)
		case hostTitle:
			h.Title, _ = val.Base().Text()
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

func coordinatesOf(parent *fields, v clixml.Value) Coordinates {
	f := fields{v: v}
	c := Coordinates{X: f.int32("x"), Y: f.int32("y")}
	parent.take(&f)
	return c
}

func sizeOf(parent *fields, v clixml.Value) Size {
	f := fields{v: v}
	s := Size{Width: f.int32("width"), Height: f.int32("height")}
	parent.take(&f)
	return s
}
