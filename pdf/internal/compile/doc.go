// Package compile compiles the template language into a Plan and turns a Plan
// and data into a doc.Document.
//
// A template is YAML 1.2 or JSON. Compile reads it once: it resolves styles, parses
// markup, type-checks and compiles expressions against the data contract, and reads
// files. The result is immutable, so one Plan serves any number of goroutines. Build
// then decodes and validates the data directly into slots, and fills in the texts;
// it parses nothing of the template.
//
// Every problem is a diag.Diagnostic with its position in the template or the data,
// and all problems of a text are reported together. Codes:
//
//	T001 syntax                       D201 data: syntax
//	T101 unknown key                  D202 data: duplicate key
//	T102 unknown kind of block        D203 data: wrong type
//	T103 unknown style, component ... D204 data: missing field
//	T104 unknown field or name        D205 data: unknown field
//	T105 wrong value                  D206 missing value printed or computed with
//	T106 expression: syntax           D207 value that an expression cannot take
//	T107 expression: types            S028 no alternative text
//	T109 expression: functions        X301 X302 X303 template: bytes, depth, values
//	T111 missing key                  X304 X305 X306 expression: bytes, nodes, nesting
//	T112 not in this version          X307 X308 X309 data: bytes, depth, values
//	T113 markup                       X310 X311 X312 render: steps, range, memory
//	T114 data contract                X313 too many expressions in one text
//	T115 circular reference
//	T116 arguments of a component
//	T117 no formats for the locale
//	T118 file
//	T119 now() without a render time
//	T901 key material in a template
//
// A feature of the language that this version does not have is refused with T112
// when the template is compiled, never ignored.
package compile
