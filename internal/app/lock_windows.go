package app

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the data directory for this process. The lock is the kernel's: it ends with the
// process, however that ends.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
	if err != nil {
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrInUse
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
