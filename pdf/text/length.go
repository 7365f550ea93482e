// Package text turns strings into positioned glyphs and lines: shaping through
// the Shaper interface, a cache of shaped words, and line breaking.
package text

// Length is a distance in 1/1024 of a point (1/72 inch). Layout computes in
// integers alone, so a break never depends on how a processor rounds.
type Length int64

// Pt is one point.
const Pt Length = 1024
