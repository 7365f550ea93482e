package edit

import "testing"

// FuzzReadTSV: what a program writes is words with their places, or an error.
func FuzzReadTSV(f *testing.F) {
	f.Add("level\tpage_num\n5\t1\t1\t1\t1\t1\t3\t4\t5\t6\t95.5\tword\n5\t1\t1\t1\t2\t1\t3\t4\t5\t6\t-1\t \r\n4\t\n")
	f.Add("level\n5\t1\t1\t1\t1\t1\t99999999999\t-4\t5\t6\tNaN\ta\tb\n5\t")
	f.Fuzz(func(t *testing.T, s string) {
		words, err := readTSV(s)
		for _, w := range words {
			if err != nil || w.Text == "" || w.Box.Min.X < 0 || w.Box.Min.Y < 0 || w.Box.Dx() < 0 || w.Box.Dy() < 0 {
				t.Fatalf("%+v, %v", w, err)
			}
		}
	})
}
