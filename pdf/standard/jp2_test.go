package standard_test

import (
	"testing"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/standard"
)

// FuzzJPEG2000 checks what is no JPEG 2000: whatever it is, findings are of one clause.
func FuzzJPEG2000(f *testing.F) {
	const header = "\x00\x00\x00\x16ihdr\x00\x00\x00\x01\x00\x00\x00\x01\x00\x03\x07\x07\x00\x00"
	for _, seed := range []string{
		"", "\x00\x00\x00\x0cjP  \r\n\x87\n", "\x00\x00\x00\x1ejp2h" + header, "\x00\x00\x00\x2djp2h" + header + "\x00\x00\x00\x0fcolr\x01\x00\x00\x00\x00\x00\x10",
		"\x00\x00\x00\x00jp2h" + header,                                 // up to the end
		"\x00\x00\x00\x01jp2h\x00\x00\x00\x00\x00\x00\x00\x26" + header, // a long size
		"\x00\x00\x00\x01jp2h\xff\xff\xff\xff\xff\xff\xff\xff" + header, // of 16 EiB
		"\x00\x00\x00\x01jp2h\x00\x00\x00\x00\x00\x00\x00\x08" + header, // less than its head
		"\xff\xff\xff\xffjp2h" + header, "\x00\x00\x00\x07jp2h", "\x00\x00\x00\x01jp2h\x00",
	} {
		f.Add([]byte(seed), false)
	}
	claims, err := standard.Set(standard.PDFA2b)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, spaced bool) {
		j := standard.NewJudge(claims, cos.V17)
		j.JPEG2000(cos.Ref{Num: 1}, data, spaced)
		for _, x := range j.Finish(cos.Trailer{}) {
			if x.Rule == "S057" && x.Clause != "ISO 19005-2, 6.2.8.3" {
				t.Errorf("%+v", x)
			}
		}
	})
}
