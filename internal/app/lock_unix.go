//go:build unix

package app

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the data directory for this process. The lock is the kernel's: it ends with the
// process, however that ends.
func lock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
