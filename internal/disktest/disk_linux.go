package disktest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
)

// Small returns a directory on its own file system, in memory, with the given capacity in bytes. It
// is removed after the test. Without permission to mount, the test is skipped.
func Small(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small tmpfs needs CAP_SYS_ADMIN: run as root")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// nobody is the user who owns nothing.
const nobody = 65534

// AsNobody runs f as a user to whom permission bits apply, whoever runs the tests. The identity
// belongs to one thread, which ends with its goroutine; f must do its work in its own goroutine
// and must not end the test.
func AsNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if os.Geteuid() == 0 {
			runtime.LockOSThread() // never unlocked: no other goroutine gets this thread
			if err := syscall.Setfsuid(nobody); err != nil {
				t.Error(err)
				return
			}
		}
		f()
	}()
	<-done
}
