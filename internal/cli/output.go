package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// output writes what write gives to a file, or to standard output for "-": whole, or after an
// error not at all.
func (p *program) output(name string, write func(io.Writer) error) error {
	if name == "-" {
		if terminal(p.Stdout) {
			return usageError{errors.New("standard output is a terminal, which cannot show a PDF; name a FILE")}
		}
		return whole(p.Stdout, write)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeFile(name, write)
	case err != nil:
		return err
	case info.IsDir():
		return usageError{fmt.Errorf("%s is a directory; name a file", name)}
	case info.Mode().IsRegular():
		// A link stays a link: its file is what changes.
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
		return writeFile(name, write)
	}
	// A device or a pipe is written to. Giving another file its name would take it away.
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(whole(f, write), f.Close())
}

// whole keeps what write gives until it is complete.
func whole(w io.Writer, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

// writeFile writes a file whole or not at all: it gets its name when it is complete. Its
// permissions are those that the user's umask leaves, as for any file that a program makes.
func writeFile(name string, write func(io.Writer) error) (err error) {
	part := filepath.Join(filepath.Dir(name), ".quire-"+rand.Text())      // names may be as long as the system allows
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // G302: the umask decides
	if err != nil {
		// The user knows the name that was asked for, not ours.
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			err = e.Err
		}
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Rename(part, name)
}
