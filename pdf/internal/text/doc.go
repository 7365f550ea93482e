// Package text converts strings to positioned glyphs and lines: shaping with the Shaper interface,
// a cache of shaped words, and line breaking.
package text
