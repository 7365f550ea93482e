package fetch_test

import (
	"os"
	"testing"

	"example.com/quire/bench/fetch"
)

func TestMain(m *testing.M) {
	fetch.ServeOrigin()
	os.Exit(m.Run())
}
