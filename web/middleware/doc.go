// Package middleware has the middleware that needs only the standard library. Every constructor
// takes options whose zero value is the safe profile, and returns an error for options that make no
// sense.
//
// The App itself already recovers panics, gives request ids and limits bodies;
// the middleware of those names changes that for a group.
package middleware
