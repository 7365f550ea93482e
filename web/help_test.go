package web_test

import (
	"flag"
	"log/slog"
)

var discard = slog.New(slog.DiscardHandler)

var update = flag.Bool("update", false, "rewrite the golden files")
