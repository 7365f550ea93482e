// Package text turns strings into positioned glyphs and lines: shaping through
// the Shaper interface, a cache of shaped words, and line breaking.
package text
