package app_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"example.com/quire/internal/cli"
)

// asProgram in the environment makes the test binary the program: tests run it as a process of
// its own without building another one.
const asProgram = "APP_TEST_AS_PROGRAM"

// program returns the file of the program. It is to be run with asProgram in its environment.
func program(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Run(context.Background(), cli.Env{
			Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Version: "test",
		}))
	}
	goleak.VerifyTestMain(m)
}
