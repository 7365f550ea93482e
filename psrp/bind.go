package psrp

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"example.com/quire/psrp/clixml"
	"example.com/quire/psrp/proto"
)

// action is what a command does with records of a stream (ActionPreference).
type action uint8

const (
	actionSilent action = iota
	actionStop
	actionContinue
	actionInquire // nobody is asked: as Continue
	actionIgnore
)

func actionNames() []string {
	return []string{"SilentlyContinue", "Stop", "Continue", "Inquire", "Ignore"}
}

// preferences are set by the common parameters.
type preferences struct{ errors, warnings, information, verbose, debug action }

func defaultPreferences() preferences {
	return preferences{errors: actionContinue, warnings: actionContinue}
}

// commonParameter is a parameter that every command has.
type commonParameter struct {
	name, alias string
	isSwitch    bool
	of          func(*preferences) *action
}

func commonParameters() []commonParameter {
	return []commonParameter{
		{"Verbose", "vb", true, func(p *preferences) *action { return &p.verbose }},
		{"Debug", "db", true, func(p *preferences) *action { return &p.debug }},
		{"ErrorAction", "ea", false, func(p *preferences) *action { return &p.errors }},
		{"WarningAction", "wa", false, func(p *preferences) *action { return &p.warnings }},
		{"InformationAction", "infa", false, func(p *preferences) *action { return &p.information }},
	}
}

func (c *commonParameter) set(command string, prefs *preferences, v clixml.Value) error {
	to := c.of(prefs)
	if c.isSwitch {
		var on bool
		if err := convert(v, &on); err != nil {
			return wrongArgument(command, c.name, err)
		}
		*to = actionSilent
		if on {
			*to = actionContinue
		}
		return nil
	}
	names := actionNames()
	if n, ok := v.Int(); ok && n >= 0 && int(n) < len(names) {
		*to = action(n) //nolint:gosec // G115: one of a few
		return nil
	}
	text, _ := v.Base().Text()
	for i, name := range names {
		if strings.EqualFold(name, text) {
			*to = action(i)
			return nil
		}
	}
	return wrongArgument(command, c.name, fmt.Errorf("%s is none of %s", quoted(v), strings.Join(names, ", ")))
}

func quoted(v clixml.Value) string { return "'" + v.String() + "'" }

func wrongArgument(command, parameter string, err error) error {
	return commandError("CannotConvertArgumentNoMessage", command, proto.InvalidArgument, parameterException,
		"Cannot bind the parameter '"+parameter+"': "+err.Error())
}

func bindingError(id, command, format string, a ...any) error {
	return commandError(id, command, proto.InvalidArgument, parameterException, fmt.Sprintf(format, a...))
}

// matched is what a name of an argument stands for.
type matched struct {
	param  int // of the command, or -1
	common *commonParameter
}

// match finds a parameter by its name or alias, or by the beginning of one if that is clear.
func match(cmd *command, name string) (matched, error) {
	type candidate struct {
		text, name string
		matched
	}
	var all []candidate
	for i, p := range cmd.params {
		for _, n := range append([]string{p.name}, p.aliases...) {
			all = append(all, candidate{n, p.name, matched{param: i}})
		}
	}
	for _, c := range commonParameters() {
		for _, n := range []string{c.name, c.alias} {
			all = append(all, candidate{n, c.name, matched{-1, &c}})
		}
	}
	var found []candidate
	for _, c := range all {
		if strings.EqualFold(c.text, name) {
			return c.matched, nil
		}
		if len(name) < len(c.text) && strings.EqualFold(c.text[:len(name)], name) &&
			!slices.ContainsFunc(found, func(f candidate) bool { return f.name == c.name }) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 0 || name == "":
		return matched{}, bindingError("NamedParameterNotFound", cmd.info.Name, "A parameter cannot be found that matches the name '%s'.", name)
	case len(found) > 1:
		names := make([]string, len(found))
		for i, f := range found {
			names[i] = "-" + f.name
		}
		return matched{}, bindingError("AmbiguousParameter", cmd.info.Name, "The parameter name '%s' is ambiguous: %s.", name, strings.Join(names, " "))
	}
	return found[0].matched, nil
}

// bind gives each argument to its parameter, by index into cmd.params. On a command line's behalf
// clients send names as they were typed, with their dash and colon, and a name and its value as two
// arguments: only the parameter's type says whether the second belongs to the first.
func bind(cmd *command, args []Arg, prefs *preferences) (map[int]clixml.Value, error) {
	values := map[int]clixml.Value{}
	common := map[string]bool{}
	var positional []clixml.Value
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.Name == "" {
			positional = append(positional, a.Value)
			continue
		}
		name := strings.TrimPrefix(a.Name, "-")
		explicit := strings.HasSuffix(name, ":")
		name = strings.TrimSuffix(name, ":")
		m, err := match(cmd, name)
		if err != nil {
			return nil, err
		}
		isSwitch := m.common != nil && m.common.isSwitch || m.common == nil && cmd.params[m.param].isSwitch
		v := a.Value
		if v.IsNil() && !explicit {
			switch {
			case isSwitch:
				v = clixml.Bool(true)
			case i+1 < len(args) && args[i+1].Name == "":
				i++
				v = args[i].Value
			case strings.HasPrefix(a.Name, "-"):
				return nil, bindingError("MissingArgument", cmd.info.Name, "Missing an argument for parameter '%s'.", name)
			}
		}
		if m.common != nil {
			if common[m.common.name] {
				return nil, boundTwice(cmd, m.common.name)
			}
			common[m.common.name] = true
			if err := m.common.set(cmd.info.Name, prefs, v); err != nil {
				return nil, err
			}
			continue
		}
		if _, ok := values[m.param]; ok {
			return nil, boundTwice(cmd, cmd.params[m.param].name)
		}
		values[m.param] = v
	}
	return values, bindPositional(cmd, positional, values)
}

func boundTwice(cmd *command, name string) error {
	return bindingError("ParameterAlreadyBound", cmd.info.Name, "The parameter '%s' is specified more than once.", name)
}

// bindPositional gives values without a name to the parameters with a position that have none yet,
// and then the defaults.
func bindPositional(cmd *command, positional []clixml.Value, values map[int]clixml.Value) error {
	var free []int
	for i, p := range cmd.params {
		if _, ok := values[i]; !ok && p.position >= 0 {
			free = append(free, i)
		}
	}
	slices.SortFunc(free, func(a, b int) int { return cmp.Compare(cmd.params[a].position, cmd.params[b].position) })
	if len(positional) > len(free) {
		return bindingError("PositionalParameterNotFound", cmd.info.Name, "A positional parameter cannot be found that accepts the argument %s.", quoted(positional[len(free)]))
	}
	for i, v := range positional {
		values[free[i]] = v
	}
	var missing []string
	for i, p := range cmd.params {
		if _, ok := values[i]; ok {
			continue
		}
		if p.mandatory {
			missing = append(missing, p.name)
		}
		if p.fallback != nil {
			values[i] = *p.fallback
		}
	}
	if len(missing) > 0 {
		return bindingError("MissingMandatoryParameter", cmd.info.Name, "The command lacks its mandatory parameters: %s.", strings.Join(missing, " "))
	}
	return nil
}

// fill stores bound values in the struct of arguments.
func fill(cmd *command, args reflect.Value, values map[int]clixml.Value) error {
	for i := range cmd.params {
		p := &cmd.params[i]
		v, ok := values[i]
		if !ok {
			continue
		}
		field, err := args.FieldByIndexErr(p.index)
		if err != nil {
			return wrongArgument(cmd.info.Name, p.name, err)
		}
		if v.IsNil() && p.mandatory {
			return bindingError("ParameterArgumentValidationErrorNullNotAllowed", cmd.info.Name, "The parameter '%s' cannot be null.", p.name)
		}
		if err := convertInto(v, field); err != nil {
			return wrongArgument(cmd.info.Name, p.name, err)
		}
		if len(p.set) > 0 && !v.IsNil() {
			if err := p.oneOf(field); err != nil {
				return bindingError("ParameterArgumentValidationError", cmd.info.Name, "Cannot validate the argument of parameter '%s': %v.", p.name, err)
			}
		}
	}
	return nil
}

// oneOf checks a value, or each of a list, against the set, whose spelling it takes.
func (p *param) oneOf(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if err := p.oneOf(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case reflect.Pointer:
		return p.oneOf(v.Elem())
	case reflect.String:
		for _, s := range p.set {
			if strings.EqualFold(s, v.String()) {
				v.SetString(s)
				return nil
			}
		}
	default:
		if slices.Contains(p.set, fmt.Sprint(v.Interface())) {
			return nil
		}
	}
	return fmt.Errorf("'%v' is none of %s", v.Interface(), strings.Join(p.set, ", "))
}

func convert[T any](v clixml.Value, into *T) error {
	return convertInto(v, reflect.ValueOf(into).Elem())
}

// convertInto stores a value as clixml.Unmarshal does, or else converts it where nothing is lost.
func convertInto(v clixml.Value, into reflect.Value) error {
	err := clixml.Unmarshal(v, into.Addr().Interface())
	if err == nil {
		return nil
	}
	if into.Kind() == reflect.Pointer && into.Type().Elem().Kind() != reflect.Struct {
		p := reflect.New(into.Type().Elem())
		if convertInto(v, p.Elem()) != nil {
			return unconvertible(v, into)
		}
		into.Set(p)
		return nil
	}
	if into.Kind() == reflect.Slice {
		return convertList(v, into)
	}
	if into.Kind() == reflect.String {
		if text, ok := plainText(v); ok {
			into.SetString(text)
			return nil
		}
	}
	if text, ok := v.Base().Text(); ok && parseText(strings.TrimSpace(text), into) {
		return nil
	}
	if n, ok := v.Int(); ok && into.Kind() == reflect.Bool && (n == 0 || n == 1) {
		into.SetBool(n == 1)
		return nil
	}
	if f, ok := v.Base().Float64(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 && (into.CanInt() || into.CanUint()) {
		if clixml.Unmarshal(clixml.Int64(int64(f)), into.Addr().Interface()) == nil {
			return nil
		}
	}
	return unconvertible(v, into)
}

func unconvertible(v clixml.Value, into reflect.Value) error {
	name := cmp.Or(netType(into.Type()), "the type of the parameter")
	return fmt.Errorf("cannot convert %s to %s", quoted(v), name)
}

// convertList makes a list of one of what is no list.
func convertList(v clixml.Value, into reflect.Value) error {
	items := []clixml.Value{v}
	if l, ok := v.List(); ok {
		items = l.Items
	}
	out := reflect.MakeSlice(into.Type(), len(items), len(items))
	for i, item := range items {
		if err := convertInto(item, out.Index(i)); err != nil {
			return err
		}
	}
	into.Set(out)
	return nil
}

// plainText is the text of a number or truth value, as PowerShell would write it.
func plainText(v clixml.Value) (string, bool) {
	if b, ok := v.Base().Bool(); ok {
		if b {
			return "True", true
		}
		return "False", true
	}
	switch v.Base().Kind() {
	case clixml.KindInt8, clixml.KindInt16, clixml.KindInt32, clixml.KindInt64, clixml.KindUint8, clixml.KindUint16, clixml.KindUint32, clixml.KindUint64,
		clixml.KindFloat32, clixml.KindFloat64, clixml.KindDecimal:
		return v.Base().String(), true
	}
	return "", false
}

// parseText reads text into a number, a truth value or one of the types that have a text.
func parseText(s string, into reflect.Value) bool {
	err := strconv.ErrSyntax
	switch x := into.Addr().Interface().(type) {
	case *time.Duration:
		*x, err = time.ParseDuration(s)
		return err == nil
	case *time.Time:
		*x, err = time.Parse(time.RFC3339Nano, s)
		return err == nil
	case *clixml.GUID:
		*x, err = clixml.ParseGUID(s)
		return err == nil
	case *clixml.Version:
		*x, err = clixml.ParseVersion(s)
		return err == nil
	}
	switch {
	case into.Kind() == reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(strings.TrimPrefix(s, "$"))
		into.SetBool(b)
	case into.CanInt():
		var n int64
		n, err = strconv.ParseInt(s, 10, into.Type().Bits())
		into.SetInt(n)
	case into.CanUint():
		var n uint64
		n, err = strconv.ParseUint(s, 10, into.Type().Bits())
		into.SetUint(n)
	case into.CanFloat():
		var f float64
		f, err = strconv.ParseFloat(s, into.Type().Bits())
		into.SetFloat(f)
	}
	return err == nil
}

// netKinds are the .NET types of what has no other type than its kind.
var netKinds = [...]string{
	reflect.Bool: "System.Boolean", reflect.String: "System.String",
	reflect.Int: "System.Int64", reflect.Int64: "System.Int64", reflect.Int32: "System.Int32",
	reflect.Int16: "System.Int16", reflect.Int8: "System.SByte",
	reflect.Uint: "System.UInt64", reflect.Uint64: "System.UInt64", reflect.Uint32: "System.UInt32",
	reflect.Uint16: "System.UInt16", reflect.Uint8: "System.Byte",
	reflect.Float32: "System.Single", reflect.Float64: "System.Double",
}

// netType names the .NET type that a client sees; "" when there is none.
func netType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[clixml.DateTime]():
		return "System.DateTime"
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[clixml.TimeSpan]():
		return "System.TimeSpan"
	case reflect.TypeFor[clixml.GUID]():
		return "System.Guid"
	case reflect.TypeFor[clixml.Version]():
		return "System.Version"
	case reflect.TypeFor[clixml.Decimal]():
		return "System.Decimal"
	case reflect.TypeFor[clixml.Char]():
		return "System.Char"
	case reflect.TypeFor[clixml.URI]():
		return "System.Uri"
	case reflect.TypeFor[clixml.ScriptBlock]():
		return "System.Management.Automation.ScriptBlock"
	case reflect.TypeFor[*clixml.SecureString]():
		return "System.Security.SecureString"
	case reflect.TypeFor[clixml.Credential]():
		return "System.Management.Automation.PSCredential"
	case reflect.TypeFor[[]byte]():
		return "System.Byte[]"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return netType(t.Elem())
	case reflect.Slice, reflect.Array:
		if of := netType(t.Elem()); of != "" {
			return of + "[]"
		}
		return ""
	case reflect.Map:
		return "System.Collections.Hashtable"
	case reflect.Interface, reflect.Struct:
		return "System.Management.Automation.PSObject"
	}
	if k := t.Kind(); int(k) < len(netKinds) {
		return netKinds[k]
	}
	return ""
}

// usingArgument is the name under which clients send the values of $using: names, as a dictionary
// from the base64 of the UTF-16 of "$using:NAME". For older servers they rewrite the script to
// parameters named usingParameter+NAME instead.
const (
	usingArgument  = "--%"
	usingParameter = "__using_"
)

// scriptArguments takes the values of $using: names out of a script's arguments.
func scriptArguments(c *Call, args []Arg) []Arg {
	var rest []Arg
	put := func(name string, v clixml.Value) {
		if c.using == nil {
			c.using = map[string]clixml.Value{}
		}
		c.using[name] = v
	}
	for _, a := range args {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(a.Name, "-"), usingParameter); ok {
			put(strings.TrimSuffix(name, ":"), a.Value)
		}
		if a.Name == usingArgument {
			if d, ok := a.Value.Dict(); ok {
				for _, e := range d.Entries {
					if name, ok := usingName(e.Key); ok {
						put(name, e.Value)
					}
				}
				continue
			}
		}
		rest = append(rest, a)
	}
	return rest
}

func usingName(key clixml.Value) (string, bool) {
	text, _ := key.Text()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i]) | uint16(b[2*i+1])<<8
	}
	name, ok := strings.CutPrefix(strings.ToLower(string(utf16.Decode(units))), "$using:")
	return name, ok
}
