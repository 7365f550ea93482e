package diag

import (
	"errors"
	"strconv"
)

// The sentinels. A *DiagnosticError unwraps to those that its codes stand for.
var (
	ErrTemplate    = errors.New("pdf: template")
	ErrData        = errors.New("pdf: data")
	ErrLayout      = errors.New("pdf: layout")
	ErrFont        = errors.New("pdf: font")
	ErrStandard    = errors.New("pdf: standard")
	ErrSigner      = errors.New("pdf: signer")
	ErrLimit       = errors.New("pdf: limit")
	ErrDamaged     = errors.New("pdf: damaged")
	ErrPassword    = errors.New("pdf: password")
	ErrUnsupported = errors.New("pdf: unsupported")
	ErrNotProvable = errors.New("pdf: not provable")
	ErrTool        = errors.New("pdf: a tool is missing")
)

// The codes of files that are read whose sentinel is not ErrDamaged.
const (
	CodeDamaged     = "R001"
	CodePassword    = "R002"
	CodeUnsupported = "R003"
	CodeNotProvable = "R004"
	CodeTool        = "R005"
)

// CodeSigner is the code of a key or a time-stamp authority that fails.
const CodeSigner = "G001"

func sentinelOf(code string) error {
	switch code {
	case "":
		return nil
	case CodePassword:
		return ErrPassword
	case CodeUnsupported:
		return ErrUnsupported
	case CodeNotProvable:
		return ErrNotProvable
	case CodeTool:
		return ErrTool
	}
	switch code[0] {
	case 'T':
		return ErrTemplate
	case 'D':
		return ErrData
	case 'L':
		return ErrLayout
	case 'F':
		return ErrFont
	case 'S':
		return ErrStandard
	case 'R':
		return ErrDamaged
	case 'G':
		return ErrSigner
	case 'X':
		return ErrLimit
	}
	return nil
}

// LimitError says which limit an input went over. errors.Is(err, ErrLimit)
// holds for it.
type LimitError struct {
	Name  string // the field of Limits
	Value int64  // what the input has; a lower bound where counting stopped
	Limit int64  // what is allowed
	Place string // where: file:line:col, an object number or an offset; may be empty
}

// Error returns `limit NAME: VALUE is over LIMIT at PLACE`.
func (e *LimitError) Error() string {
	s := "limit " + e.Name + ": " + strconv.FormatInt(e.Value, 10) + " is over " + strconv.FormatInt(e.Limit, 10)
	if e.Place != "" {
		s += " at " + e.Place
	}
	return s
}

// Is reports that the error is an ErrLimit.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }
