package strictjson

import (
	"strings"
)

// Path writes a pointer (RFC 6901) as the template language does: trades[17].price, with ["unit
// price"] for a name that is not an identifier. A token of digits is written as an index, because a
// pointer does not distinguish the two.
func Path(pointer string) string {
	if pointer == "" {
		return ""
	}
	path := ""
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if isIndex(token) {
			path += "[" + token + "]"
		} else {
			path = Member(path, Name(token))
		}
	}
	return path
}

// Member is the path of a member of the value at path.
func Member(path, name string) string {
	switch {
	case !isIdentifier(name):
		return string(append(AppendString([]byte(path+"["), name), ']'))
	case path == "":
		return name
	}
	return path + "." + name
}

// Pointer returns the pointer of a path in the form of [Path]. In an invalid path, a name that
// should be in brackets and quotes is read up to the next dot or bracket.
func Pointer(path string) string {
	var b strings.Builder
	for path != "" {
		var token string
		switch {
		case path[0] == '[' && len(path) > 1 && path[1] == '"':
			name, n := quoted(path[1:])
			token, path = name, strings.TrimPrefix(path[1+n:], "]")
		case path[0] == '[':
			token, path, _ = strings.Cut(path[1:], "]")
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			token, path = path[:end], path[end:]
		}
		b.WriteByte('/')
		b.WriteString(Token(token))
	}
	return b.String()
}

// quoted reads the JSON string that s begins with and returns how long it is; of one that is none,
// all of s is taken.
func quoted(s string) (value string, n int) {
	r := newReader([]byte(s))
	token, err := r.d.ReadToken()
	if err != nil {
		return s, len(s)
	}
	return token.String(), int(r.d.InputOffset())
}

func isIndex(token string) bool { return token != "" && strings.Trim(token, "0123456789") == "" }

func isIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return s != ""
}

// Token is the reference token of a name in a pointer (RFC 6901, section 3).
func Token(name string) string { return escapeToken.Replace(name) }

// Name returns the decoded name of a reference token of a pointer (RFC 6901, section 4).
func Name(token string) string { return unescapeToken.Replace(token) }

var (
	escapeToken   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")
)
