package route

// Methods is a set of methods, one bit each. The bits from FirstCustom on
// are given out by the caller, to methods that the package does not know.
type Methods uint32

// The bits of the known methods.
const (
	Get Methods = 1 << iota
	Head
	Post
	Put
	Patch
	Delete
	Options
	Connect
	Trace
	Query
	FirstCustom
)

// Known are the known methods in the order of their bits.
var Known = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "QUERY"}

// KnownBit returns the bit of a known method, 0 for any other.
func KnownBit(method string) Methods {
	switch method {
	case "GET":
		return Get
	case "HEAD":
		return Head
	case "POST":
		return Post
	case "PUT":
		return Put
	case "PATCH":
		return Patch
	case "DELETE":
		return Delete
	case "OPTIONS":
		return Options
	case "CONNECT":
		return Connect
	case "TRACE":
		return Trace
	case "QUERY":
		return Query
	}
	return 0
}

// Shared reports whether some method reaches both of two routes, where 0 means any method. GET
// answers HEAD.
func Shared(a, b Methods) bool {
	return a == b || a == 0 || b == 0 || a|b == Get|Head
}
