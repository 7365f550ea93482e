// Package conformance reads the recordings of real PowerShell that the tests replay. Only tests
// import it.
package conformance
