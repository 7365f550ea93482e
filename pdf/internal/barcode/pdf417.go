package barcode

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode/pdf417"
)

const (
	pdf417Drawn  = 2  // pixels of a row as the encoder draws it
	pdf417Tall   = 3  // modules of a row: at least 3 (ISO/IEC 15438, 5.8.2)
	pdf417Column = 17 // modules of a codeword
)

// encodePDF417 encodes with the error correction that ISO/IEC 15438, annex E, recommends for the
// amount of data.
func encodePDF417(value string) (*Symbol, error) {
	if err := ascii(value); err != nil {
		return nil, err
	}
	level := byte(2)
	for _, most := range []int{60, 250, 500} { // characters, about 1.6 to a codeword
		if len(value) > most {
			level++
		}
	}
	code, err := pdf417.Encode(value, level)
	if err != nil {
		return nil, fmt.Errorf("the value does not fit into one symbol: %w", err)
	}
	s := modules(code, pdf417Drawn, "", Quiet{2, 2, 2, 2})
	s.Tall = pdf417Tall
	return s, s.mendRowIndicators(len(value))
}

// mendRowIndicators puts the right codewords into the left column of every third row. They tell
// the number of rows, as 30 * (row / 3) + (rows - 1) / 3 (ISO/IEC 15438, 5.11.3.1), where the
// encoder writes (rows - 3) / 3: readers refuse its symbols unless rows is a multiple of 3. A
// symbol of its own in which the wrong count is the right one here has the codewords.
func (s *Symbol) mendRowIndicators(length int) error {
	if s.Rows%3 == 0 {
		return nil
	}
	for _, step := range []int{16, 1} { // rows do not grow steadily with the length: then look closer
		for n := max(length, 1); n <= maxValue; n += max(1, n*step/256) {
			other, err := pdf417.Encode(strings.Repeat("A", n), 2)
			if err != nil {
				break
			}
			donor := modules(other, pdf417Drawn, "", Quiet{})
			if donor.Rows < s.Rows || (donor.Rows-3)/3 != (s.Rows-1)/3 {
				continue
			}
			for y := 0; y < s.Rows; y += 3 {
				from := donor.dark[y*donor.Cols:]
				copy(s.dark[y*s.Cols+pdf417Column:][:pdf417Column], from[pdf417Column:])
			}
			return nil
		}
	}
	return fmt.Errorf("no symbol of %d rows can be made of the value; make it a little longer or shorter", s.Rows)
}
