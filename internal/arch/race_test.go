//go:build race

package arch_test

const raceDetector = true
