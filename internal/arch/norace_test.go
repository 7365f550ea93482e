//go:build !race

package arch_test

const raceFlag = "-race=false"
