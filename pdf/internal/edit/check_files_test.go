//go:build !race

package edit_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"example.com/quire/pdf/font"
	"example.com/quire/pdf/internal/edit"
	"example.com/quire/pdf/sign"
	"example.com/quire/pdf/standard"
)

// judged is a file with the standard that it is judged by and the clause that it breaks; empty: it
// is sound.
type judged struct {
	id     standard.ID
	clause string
	file   []byte
}

// header2 begins files of PDF 2.0.
const header2 = "%PDF-2.0\n%\xe2\xe3\xcf\xd3\n"

// archiveOf is a sound archive of a part and a level.
func archiveOf(claim string) archive {
	a := archive{claim: claim, content: "BT /Sans 9 Tf (A) Tj ET"}
	switch claim[:1] {
	case "1":
		a.header, a.profile = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", iccOf("mntr", "RGB ")
	case "4":
		a.header = header2
	}
	return a
}

// carrying is an archive that carries a file, named in the catalog: spec comes to its
// specification, which has F and UF, and stream to the dictionary of its stream.
func carrying(t *testing.T, claim, catalog, spec, dict string, data []byte) []byte {
	t.Helper()
	a := archiveOf(claim)
	a.catalog = "/Names<</EmbeddedFiles<</Names[(a)10 0 R]>>>>" + catalog
	a.objects = []string{"<</Type/Filespec/EF<</F 11 0 R>>" + spec + ">>", stream("/Type/EmbeddedFile"+dict, data)}
	return a.bytes(t)
}

// fileRules are files that break one rule of what they carry, and sound ones beside them.
func fileRules(t *testing.T) map[string]judged {
	t.Helper()
	const names, typed, data, associated = "/F(a)/UF(a)", "/Subtype/text#2Fplain", "/AFRelationship/Data", "/AF[10 0 R]"
	text := []byte("text")
	inner := func(claim string, spoil func(*archive)) []byte {
		a := archiveOf(claim)
		if spoil != nil {
			spoil(&a)
		}
		return a.bytes(t)
	}
	within := func(claim string) []byte { return carrying(t, claim, "", names+data, typed, inner("2B", nil)) }
	script := func(a *archive) { a.catalog = "/OpenAction<</S/JavaScript/JS(x)>>" }
	plain := func(claim, more string, objects ...string) []byte {
		a := archiveOf(claim)
		a.catalog, a.objects = more, objects
		return a.bytes(t)
	}
	accessible := func(part int, spec string) []byte {
		a := tagged(part, "", el("Div"))
		n := 10 + len(a.objects)
		a.catalog += fmt.Sprintf("/Names<</EmbeddedFiles<</Names[(a)%d 0 R]>>>>", n)
		a.objects = append(a.objects, fmt.Sprintf("<</Type/Filespec/EF<</F %d 0 R>>%s>>", n+1, spec), stream("/Type/EmbeddedFile"+typed, text))
		return a.bytes(t)
	}
	pinned := func(spec string) []byte {
		a := tagged(2, "", el("Annot"))
		elem, n := &a.objects[firstElem-10], 10+len(a.objects)
		*elem = strings.Replace(*elem, "/K[]", fmt.Sprintf("/K<</Type/OBJR/Obj %d 0 R/Pg 3 0 R>>", n), 1)
		a.objects[0] = strings.Replace(a.objects[0], "[0[13 0 R]]", fmt.Sprintf("[0[13 0 R]1 %d 0 R]", firstElem), 1)
		a.page += fmt.Sprintf("/Annots[%d 0 R]", n)
		a.objects = append(a.objects,
			fmt.Sprintf("<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/F 4/StructParent 1/Contents(a)/FS<</Type/Filespec%s>>/AP<</N %d 0 R>>>>", spec, n+1),
			stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", nil))
		return a.bytes(t)
	}
	ofPage := archiveOf("3B")
	ofPage.page, ofPage.catalog = associated, "/X 10 0 R"
	ofPage.objects = []string{"<</Type/Filespec/EF<</F 11 0 R>>" + names + data + ">>", stream("/Type/EmbeddedFile"+typed, text)}
	return map[string]judged{
		"1 alone":                             {standard.PDFA1b, "", inner("1B", nil)},
		"1 with a file":                       {standard.PDFA1b, "6.1.11", plain("1B", "/X 10 0 R", "<</Type/Filespec/F(a)/UF(a)/EF<</F 11 0 R>>>>", stream("/Type/EmbeddedFile", text))},
		"1 that names files":                  {standard.PDFA1b, "6.1.11", plain("1B", "/Names<</EmbeddedFiles<</Names[]>>>>")},
		"2 with one of 1":                     {standard.PDFA2b, "", carrying(t, "2B", "", names, "", inner("1B", nil))},
		"2 with one of 1a":                    {standard.PDFA2b, "", carrying(t, "2B", "", names, "", inner("1A", nil))},
		"2 with one of 2":                     {standard.PDFA2b, "", carrying(t, "2B", "", names, "", inner("2B", nil))},
		"2 with one of 2u":                    {standard.PDFA2b, "", carrying(t, "2B", "", names, "", inner("2U", nil))},
		"2 with one of 3":                     {standard.PDFA2b, "6.8", carrying(t, "2B", "", names, "", inner("3B", nil))},
		"2 with a text":                       {standard.PDFA2b, "6.8", carrying(t, "2B", "", names, "", text)},
		"2 with a file that has a script":     {standard.PDFA2b, "6.8", carrying(t, "2B", "", names, "", inner("2B", script))},
		"2 with a file that has a file":       {standard.PDFA2b, "", carrying(t, "2B", "", names, "", within("2B"))},
		"2 with a file that has a text":       {standard.PDFA2b, "6.8", carrying(t, "2B", "", names, "", carrying(t, "2B", "", names, "", text))},
		"2 without UF":                        {standard.PDFA2b, "6.8", carrying(t, "2B", "", "/F(a)", "", inner("2B", nil))},
		"2 without F":                         {standard.PDFA2b, "6.8", carrying(t, "2B", "", "/UF(a)", "", inner("2B", nil))},
		"2 with a file elsewhere":             {standard.PDFA2b, "", plain("2B", "/X<</Type/Filespec/F(a)>>")},
		"2 with a text under another key":     {standard.PDFA2b, "6.8", plain("2B", "/X 10 0 R", "<</Type/Filespec/F(a)/UF(a)/EF<</Unix 11 0 R>>>>", stream("/Type/EmbeddedFile", text))},
		"3 with a text":                       {standard.PDFA3b, "", carrying(t, "3B", associated, names+data, typed, text)},
		"3 with parameters in its type":       {standard.PDFA3b, "6.8", carrying(t, "3B", associated, names+data, "/Subtype/text#2Fplain#3B", text)},
		"3 without a type":                    {standard.PDFA3b, "6.8", carrying(t, "3B", associated, names+data, "", text)},
		"3 without a relationship":            {standard.PDFA3b, "6.8", carrying(t, "3B", associated, names, typed, text)},
		"3 without UF":                        {standard.PDFA3b, "6.8", carrying(t, "3B", associated, "/F(a)"+data, typed, text)},
		"3 not associated":                    {standard.PDFA3b, "6.8", carrying(t, "3B", "", names+data, typed, text)},
		"3 associated with a page":            {standard.PDFA3b, "", ofPage.bytes(t)},
		"3 elsewhere without a relationship":  {standard.PDFA3b, "6.8", plain("3B", "/X 10 0 R/AF[10 0 R]", "<</Type/Filespec/F(a)/UF(a)>>")},
		"4 with one of 2":                     {standard.PDFA4, "", carrying(t, "4", "", names+data, typed, inner("2B", nil))},
		"4 with one of 4":                     {standard.PDFA4, "", carrying(t, "4", "", names+data, typed, inner("4", nil))},
		"4 with one of 3":                     {standard.PDFA4, "6.9", carrying(t, "4", "", names+data, typed, inner("3B", nil))},
		"4 with a text":                       {standard.PDFA4, "6.9", carrying(t, "4", "", names+data, typed, text)},
		"4 without a type":                    {standard.PDFA4, "6.9", carrying(t, "4", "", names+data, "", inner("2B", nil))},
		"4 without a relationship":            {standard.PDFA4, "6.9", carrying(t, "4", "", names, typed, inner("2B", nil))},
		"4 without F":                         {standard.PDFA4, "6.9", carrying(t, "4", "", "/UF(a)"+data, typed, inner("2B", nil))},
		"4f with a text":                      {standard.PDFA4f, "", carrying(t, "4F", "", names+data, typed, text)},
		"4f alone":                            {standard.PDFA4f, "annex A.2", inner("4F", nil)},
		"4e with a text":                      {standard.PDFA4e, "", carrying(t, "4E", "", names+data, typed, text)},
		"ua1 with a text":                     {standard.PDFUA1, "", accessible(1, names)},
		"ua1 with a file of no name":          {standard.PDFUA1, "7.11", accessible(1, "/F(a)/UF()")},
		"ua1 without F":                       {standard.PDFUA1, "7.11", accessible(1, "/UF(a)")},
		"ua2 with a text":                     {standard.PDFUA2, "", accessible(2, "/Desc(a)"+names)},
		"ua2 whose description there is not":  {standard.PDFUA2, "8.14.1", accessible(2, "/Desc 99 0 R"+names)},
		"ua2 without a description":           {standard.PDFUA2, "8.14.1", accessible(2, names)},
		"ua2 with a pinned file":              {standard.PDFUA2, "", pinned(names + data)},
		"ua2 with a pinned file that is none": {standard.PDFUA2, "8.9.2.4.10", referenced(bytes.Replace(pinned(names+data), []byte("/FS"), []byte("/FS true/Was"), 1))},
		"ua2 without a relationship":          {standard.PDFUA2, "8.9.2.4.10", pinned(names)},
	}
}

// container is the DER of signed data with these certificates and signers, both as often as is
// said.
func container(t *testing.T, der []byte, certificates, signers int) []byte {
	t.Helper()
	in := cryptobyte.String(der)
	var info, content, data, version, digests, encap, certs, infos cryptobyte.String
	var kind cryptobyte.String
	explicit := cbasn1.Tag(0).ContextSpecific().Constructed()
	if !in.ReadASN1(&info, cbasn1.SEQUENCE) || !info.ReadASN1Element(&kind, cbasn1.OBJECT_IDENTIFIER) || !info.ReadASN1(&content, explicit) ||
		!content.ReadASN1(&data, cbasn1.SEQUENCE) || !data.ReadASN1Element(&version, cbasn1.INTEGER) || !data.ReadASN1Element(&digests, cbasn1.SET) ||
		!data.ReadASN1Element(&encap, cbasn1.SEQUENCE) || !data.ReadASN1(&certs, explicit) || !data.ReadASN1(&infos, cbasn1.SET) {
		t.Fatal("no signed data")
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(kind)
		b.AddASN1(explicit, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddBytes(version)
				b.AddBytes(digests)
				b.AddBytes(encap)
				if certificates > 0 {
					b.AddASN1(explicit, func(b *cryptobyte.Builder) { b.AddBytes(bytes.Repeat(certs, certificates)) })
				}
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(bytes.Repeat(infos, signers)) })
			})
		})
	})
	out, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cmsOf is a signature of something by a key with a certificate of its own.
func cmsOf(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "TEST ONLY"}, NotBefore: at, NotAfter: at.AddDate(9, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err == nil {
		c, err = x509.ParseCertificate(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("x"))
	d, err := (&sign.Identity{Key: key, Chain: []*x509.Certificate{c}}).Begin(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Sign()
	if err != nil {
		t.Fatal(err)
	}
	der, err := d.Finish(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// signedFile has a field with a signature whose contents are given: catalog and signature come to
// the catalog and to the signature dictionary, and ranges changes the byte range of the whole file
// but for the contents.
func signedFile(t *testing.T, claim, catalog, signature string, contents []byte, ranges func(*[4]int)) []byte {
	t.Helper()
	a := archiveOf(claim)
	a.catalog = "/AcroForm<</SigFlags 3/Fields[10 0 R]>>" + catalog
	a.page = "/Annots[10 0 R]"
	hole := strings.Repeat("0", 2*len(contents)+64)
	const blank = "/ByteRange[0 1111111111 2222222222 3333333333]"
	a.objects = []string{
		"<</Type/Annot/Subtype/Widget/FT/Sig/T(s)/Rect[0 0 0 0]/F 132/P 3 0 R/V 11 0 R/AP<</N 12 0 R>>>>",
		"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached" + signature + blank + "/Contents<" + hole + ">>>",
		stream("/Type/XObject/Subtype/Form/BBox[0 0 0 0]", nil),
	}
	b := a.bytes(t)
	from := bytes.Index(b, []byte("/Contents<"+hole)) + len("/Contents")
	r := [4]int{0, from, from + len(hole) + 2, len(b) - from - len(hole) - 2}
	if ranges != nil {
		ranges(&r)
	}
	of := fmt.Sprintf("/ByteRange[%d %d %d %d", r[0], r[1], r[2], r[3])
	copy(b[bytes.Index(b, []byte(blank)):], of+strings.Repeat(" ", len(blank)-1-len(of))+"]")
	copy(b[from+1:], hex.EncodeToString(contents))
	return b
}

// signatureRules are files that break one rule of signatures, and sound ones beside them.
func signatureRules(t *testing.T) map[string]judged {
	t.Helper()
	der := cmsOf(t)
	of := func(id standard.ID, clause string, ranges func(*[4]int)) judged {
		claim := map[standard.ID]string{standard.PDFA1b: "1B", standard.PDFA2b: "2B", standard.PDFA3b: "3B", standard.PDFA4: "4"}[id]
		return judged{id, clause, signedFile(t, claim, "", "", der, ranges)}
	}
	holding := func(clause string, contents []byte) judged {
		return judged{standard.PDFA2b, clause, signedFile(t, "2B", "", "", contents, nil)}
	}
	permitted := func(id standard.ID, claim, clause, perms, reference string) judged {
		return judged{id, clause, signedFile(t, claim, "/Perms<<"+perms+">>", "/Reference[<</Type/SigRef/TransformMethod/DocMDP/TransformParams<</Type/TransformParams/P 2/V/1.2>>"+reference+">>]", der, nil)}
	}
	const mdp = "/DocMDP 11 0 R"
	updated := func(claim string) []byte {
		b := signedFile(t, claim, "", "", der, nil)
		return append(b, fmt.Sprintf("13 0 obj\n<<>>\nendobj\nxref\n13 1\n%010d 00000 n \ntrailer\n<</Size 14/Root 1 0 R/Prev %s/ID[<00112233445566778899AABBCCDDEEFF><00112233445566778899AABBCCDDEEFF>]>>\nstartxref\n%d\n%%%%EOF\n",
			len(b), startOf(b), len(b)+len("13 0 obj\n<<>>\nendobj\n"))...)
	}
	return map[string]judged{
		"1 signed in part":              of(standard.PDFA1b, "", func(r *[4]int) { r[3] -= 9 }),
		"2 signed":                      of(standard.PDFA2b, "", nil),
		"3 signed":                      of(standard.PDFA3b, "", nil),
		"4 signed":                      of(standard.PDFA4, "", nil),
		"2 signed but for its line end": of(standard.PDFA2b, "6.4.3", func(r *[4]int) { r[3]-- }),
		"2 signed before a revision":    {standard.PDFA2b, "", updated("2B")},
		"2 signed in part":              of(standard.PDFA2b, "6.4.3", func(r *[4]int) { r[3] -= 9 }),
		"3 signed in part":              of(standard.PDFA3b, "6.4.3", func(r *[4]int) { r[3] -= 9 }),
		"2 signed from later on":        of(standard.PDFA2b, "6.4.3", func(r *[4]int) { r[0]++ }),
		"2 signed without brackets":     of(standard.PDFA2b, "6.4.3", func(r *[4]int) { r[1]++ }),
		"2 signed with a hole":          of(standard.PDFA2b, "6.4.3", func(r *[4]int) { r[2]++; r[3]-- }),
		"no certificate":                holding("6.4.3", container(t, der, 0, 1)),
		"two certificates":              holding("", container(t, der, 2, 1)),
		"two signers":                   holding("6.4.3", container(t, der, 1, 2)),
		"no signer":                     holding("6.4.3", container(t, der, 1, 0)),
		"no signed data":                holding("6.4.3", []byte("signed")),
		"certified":                     permitted(standard.PDFA2b, "2B", "", mdp, ""),
		"certified by a digest":         permitted(standard.PDFA2b, "2B", "6.1.12", mdp, "/DigestMethod/SHA1"),
		"certified by a value":          permitted(standard.PDFA3b, "3B", "6.1.12", mdp, "/DigestValue(a)"),
		"certified by a place":          permitted(standard.PDFA2b, "2B", "6.1.12", mdp, "/DigestLocation[1 2]"),
		"a digest uncertified":          permitted(standard.PDFA2b, "2B", "", "", "/DigestMethod/SHA1"),
		"a digest in part 4":            permitted(standard.PDFA4, "4", "", mdp, "/DigestMethod/SHA1"),
		"another permission":            permitted(standard.PDFA2b, "2B", "6.1.12", mdp+"/Own 11 0 R", ""),
		"another in part 4":             permitted(standard.PDFA4, "4", "6.1.11", mdp+"/Own 11 0 R", ""),
	}
}

// startOf returns where the cross-reference table of a file begins.
func startOf(b []byte) string {
	return strings.Fields(string(b[bytes.LastIndex(b, []byte("startxref")):]))[1]
}

// cmapRules are files that break one rule of the predefined CMaps of composite fonts, or of the
// glyphs that their codes stand for, and sound ones beside them.
func cmapRules(t *testing.T) map[string]judged {
	t.Helper()
	all := map[string]judged{}
	for claim, id := range map[string]standard.ID{"1B": standard.PDFA1b, "2B": standard.PDFA2b, "4": standard.PDFA4} {
		clause := func(one, two, four string) string { return map[string]string{"1B": one, "2B": two, "4": four}[claim] }
		// of shows codes in a font of glyphs that have the numbers of their CIDs, each as wide as
		// its program says by w.
		of := func(name, clause, cmap, ordering string, supplement int, show, w string, more ...string) {
			a := mapped(t, cmap, ordering, supplement, more...)
			a.content = "BT /Own 9 Tf " + show + " Tj ET"
			a.objects[1] = a.objects[1][:strings.Index(a.objects[1], "/W[")] + "/W[" + w + "]/FontDescriptor 12 0 R>>"
			sound := archiveOf(claim)
			a.claim, a.header, a.profile = sound.claim, sound.header, sound.profile
			all[claim+" "+name] = judged{id, clause, a.bytes(t)}
		}
		sans := sansOf(t)
		w := func(cids ...int) (w string) {
			for _, cid := range cids {
				w += fmt.Sprintf("%d[%d]", cid, sans.Advance(font.GID(cid))*1000/sans.UnitsPerEm()) //nolint:gosec // G115: a few thousand
			}
			return w
		}
		maps, system := clause("6.3.3.3", "6.2.11.3.3", "6.2.10.3.3"), clause("6.3.3.1", "6.2.11.3.1", "6.2.10.3.1")
		later := clause("6.3.3.3", "6.2.11.3.1", "") // part 1 does not look at supplements, and PDF 2.0 has them
		glyph, width := clause("6.3.5", "6.2.11.4.1", "6.2.10.4"), clause("6.3.6", "6.2.11.5", "6.2.10.5")
		sound := clause("6.3.3.3", "", "") // part 1 takes none that is not embedded
		const (
			sjis  = "/90ms-RKSJ-H"
			known = "<41 889F>" // of one byte and of two: the CIDs 264 and 1125
		)
		of("of Japan", sound, sjis, "Japan1", 2, known, w(264, 1125))
		of("of Japan, vertical", sound, "/90ms-RKSJ-V", "Japan1", 2, "<889F>", w(1125))
		of("of Japan in JIS", sound, "/H", "Japan1", 1, "<3021>", w(1125))
		of("of China in UTF-16", sound, "/UniGB-UTF16-H", "GB1", 4, "<0041 3042>", w(34, 357))
		of("of China in GB 18030", sound, "/GBK2K-H", "GB1", 4, "<41>", w(34))
		of("of Taiwan in EUC", sound, "/CNS-EUC-H", "CNS1", 0, "<A4A1>", w(333))
		of("of Korea, half width", clause("6.3.3.3", "", system), "/KSCms-UHC-HW-H", "Korea1", 1, "<A1A1>", w(101))
		of("of Korea in PDF 2.0", clause(system, system, ""), "/KSCms-UHC-HW-H", "KR", 9, "<A1A1>", w(101))
		of("of another collection", system, sjis, "Korea1", 0, known, w(264, 1125))
		of("of a later supplement", later, sjis, "Japan1", 3, known, w(264, 1125))
		of("nobody knows", maps, "/Own-H", "Japan1", 0, "<0041>", w(65))
		of("of another width", clause(width, width, width), sjis, "Japan1", 2, known, w(264)+"1125[333]")
		of("of another width by default", width, sjis, "Japan1", 2, known, w(264))
		of("without a glyph", glyph, "/UniJIS-UTF16-H", "Japan1", 5, "<9F9D>", w(34))
		of("without a CID", clause(glyph, "6.2.11.8", "6.2.10.9"), sjis, "Japan1", 2, "<FCFC>", "0[1000]")
		of("that another builds on", sound, "13 0 R", "Japan1", 2, "<889F FCFC>", w(1125, 42), building("90ms-RKSJ-H"))
		of("that another builds on, of another width", width, "13 0 R", "Japan1", 2, "<889F>", "1125[333]", building("90ms-RKSJ-H"))
		of("that another builds on, which nobody knows", maps, "13 0 R", "Japan1", 2, "<FCFC>", w(42), building("90pv-RKSJ-V"))
	}
	return all
}

// building is an embedded CMap that builds on a predefined one and gives the code FCFC the CID 42.
func building(on string) string {
	return stream("/Type/CMap/CMapName/Own-H/UseCMap/"+on+"/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>", []byte(
		"%!PS-Adobe-3.0 Resource-CMap\n/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/"+on+" usecmap\n/CIDSystemInfo 3 dict dup begin\n/Registry (Adobe) def\n/Ordering (Japan1) def\n/Supplement 2 def\nend def\n/CMapName /Own-H def\n/CMapType 1 def\n4 begincodespacerange\n<00> <80>\n<8140> <9FFC>\n<A0> <DF>\n<E040> <FCFC>\nendcodespacerange\n1 begincidchar\n<FCFC> 42\nendcidchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"))
}

// contentRules are files that break one rule in content that is no content of a page itself, or of
// fonts by whether content uses them, and sound ones beside them.
func contentRules(t *testing.T) map[string]judged {
	t.Helper()
	of := func(claim string, spoil func(*archive)) []byte {
		a := archiveOf(claim)
		spoil(&a)
		return a.bytes(t)
	}
	// looking has a stamp, or another annotation, whose appearance has a content and resources.
	looking := func(claim, annotation, dict, content string, objects ...string) []byte {
		return of(claim, func(a *archive) {
			a.page = "/Annots[10 0 R]"
			a.objects = append([]string{
				"<</Type/Annot/Rect[0 0 9 9]/F 4/AP<</N 11 0 R>>" + annotation + ">>",
				stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]"+dict, []byte(content)),
			}, objects...)
		})
	}
	const stamp, absent = "/Subtype/Stamp", "<</Type/Font/Subtype/TrueType/BaseFont/Sans/FirstChar 65/LastChar 65/Widths[667]/Encoding/WinAnsiEncoding/FontDescriptor 13 0 R>>"
	descriptor := "<</Type/FontDescriptor/FontName/Sans/Flags 32/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontBBox[0 0 1000 1000]>>"
	widget := func(more string) string { return "/Subtype/Widget/FT/Tx/T(a)" + more }
	field := "/AcroForm<</Fields[10 0 R]>>"
	formed := func(claim, more string) []byte {
		return of(claim, func(a *archive) {
			a.catalog, a.page = field, "/Annots[10 0 R]"
			a.objects = []string{"<</Type/Annot/Rect[0 0 9 9]/F 4/AP<</N 11 0 R>>" + widget(more) + ">>", stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]", nil)}
		})
	}
	tiled := func(font string) []byte {
		return of("2B", func(a *archive) {
			a.resources, a.content = "/Pattern<</P 10 0 R>>", "/Pattern cs /P scn 0 0 9 9 re f"
			a.objects = []string{
				stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<</Font<</F "+font+">>>>", []byte("BT /F 9 Tf (A) Tj ET")), "null", absent, descriptor,
			}
		})
	}
	outside := func(more string) []byte {
		a := tagged(1, "", el("Div"))
		n := 10 + len(a.objects)
		a.catalog += fmt.Sprintf("/AcroForm<</Fields[%d 0 R]>>", n)
		a.page += fmt.Sprintf("/Annots[%d 0 R]", n)
		a.objects = append(a.objects, "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/TU(a)/Rect[0 0 9 9]"+more+">>")
		return a.bytes(t)
	}
	linked := func(more string) []byte {
		a := tagged(1, "", el("Div"))
		a.page += "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/F 4/A<</S/URI/URI(urn:a)>>" + more + ">>]"
		return a.bytes(t)
	}
	dingbats := func(more string) []byte {
		a := tagged(1, "", el("Div"))
		a.content = "/P<</MCID 0>>BDC BT /Dingbats 9 Tf 3 Tr (4) Tj ET EMC"
		a.resources = fmt.Sprintf("/Font<</Dingbats %d 0 R/Sans 7 0 R>>", 10+len(a.objects))
		a.objects = append(a.objects, "<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats"+more+">>",
			stream("", []byte("1 begincodespacerange <00><FF> endcodespacerange 1 beginbfchar <34> <2714> endbfchar")))
		b := a.bytes(t)
		return bytes.Replace(b, []byte("/Font<</Sans 7 0 R/Own 10 0 R>>"), bytes.Repeat([]byte(" "), len("/Font<</Sans 7 0 R/Own 10 0 R>>")), 1)
	}
	return map[string]judged{
		"an appearance":                        {standard.PDFA2b, "", looking("2B", stamp, "", "1 0 0 rg 0 0 9 9 re f")},
		"an unknown operator of an appearance": {standard.PDFA2b, "6.2.2", looking("2B", stamp, "", "1 xyz")},
		"an appearance in CMYK":                {standard.PDFA2b, "6.2.4.3", looking("2B", stamp, "", "0 0 0 1 k 0 0 9 9 re f")},
		"an appearance in CMYK, of part 1":     {standard.PDFA1b, "6.2.3.3", looking("1B", stamp, "", "0 0 0 1 k 0 0 9 9 re f")},
		"an appearance with a font":            {standard.PDFA2b, "6.2.11.4.1", looking("2B", stamp, "/Resources<</Font<</F 12 0 R>>>>", "BT /F 9 Tf (A) Tj ET", absent, descriptor)},
		"an appearance without its font":       {standard.PDFA4, "6.2.2", looking("4", stamp, "/Resources<<>>", "BT /F 9 Tf (A) Tj ET")},
		"a state without its font":             {standard.PDFA4, "6.2.2", looking("4", stamp, "/Resources<<>>", "/G gs")},
		"a pattern without its resource":       {standard.PDFA4, "6.2.2", of("4", func(a *archive) { a.content = "/Pattern cs /P scn 0 0 9 9 re f" })},
		"spaces that are no resources":         {standard.PDFA4, "", of("4", func(a *archive) { a.content = "/DeviceRGB cs 1 0 0 scn 0 0 9 9 re f" })},
		"black without an intent":              {standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) { a.intents = "[]" })},
		"nothing without an intent":            {standard.PDFA2b, "", of("2B", func(a *archive) { a.intents, a.content = "[]", "0 0 9 9 re n BT /Sans 9 Tf 3 Tr (A) Tj ET" })},
		"calibrated black without an intent": {standard.PDFA2b, "", of("2B", func(a *archive) {
			a.intents, a.content = "[]", "/C cs /C CS 0 scn 0 SCN 0 0 9 9 re B q BT /Sans 9 Tf (A) Tj ET Q"
			a.resources = "/ColorSpace<</C[/CalGray<</WhitePoint[1 1 1]>>]>>"
		})},
		"black before another colour": {standard.PDFA2b, "6.2.4.3", of("2B", func(a *archive) {
			a.intents, a.content = "[]", "q /C cs 0 scn Q 0 0 9 9 re f"
			a.resources = "/ColorSpace<</C[/CalGray<</WhitePoint[1 1 1]>>]>>"
		})},
		"black by default": {standard.PDFA2b, "", of("2B", func(a *archive) {
			a.intents, a.content = "[]", "0 0 9 9 re f"
			a.resources = "/ColorSpace<</DefaultGray[/CalGray<</WhitePoint[1 1 1]>>]>>"
		})},
		"a field":                          {standard.PDFA2b, "", formed("2B", "")},
		"a field with additional actions":  {standard.PDFA2b, "6.4.1", formed("2B", "/AA<</K<</S/JavaScript/JS(x)>>>>")},
		"a font that nothing uses":         {standard.PDFA2b, "", of("2B", func(a *archive) { a.objects = []string{strings.Replace(absent, "13 0 R", "11 0 R", 1), descriptor} })},
		"a font of a pattern":              {standard.PDFA2b, "6.2.11.4.1", tiled("12 0 R")},
		"a font of a pattern, embedded":    {standard.PDFA2b, "", tiled("7 0 R")},
		"a link outside the tree":          {standard.PDFUA1, "7.18.5", linked("/Contents(a)")},
		"a mute link outside the tree":     {standard.PDFUA1, "7.18.1", linked("")},
		"a widget outside the tree":        {standard.PDFUA1, "7.18.4", outside("/F 4")},
		"a hidden widget outside the tree": {standard.PDFUA1, "", outside("/F 2")},
		"stars of ZapfDingbats":            {standard.PDFUA1, "7.21.7", dingbats("")},
		"stars of ZapfDingbats, told":      {standard.PDFUA1, "", dingbats(fmt.Sprintf("/ToUnicode %d 0 R", 18))},
	}
}

// checkRules judges files and reports those of which Check names another clause.
func checkRules(t *testing.T, all map[string]judged) {
	t.Helper()
	for name, x := range all {
		d, err := edit.Open(bytes.NewReader(x.file), int64(len(x.file)), edit.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found, err := d.Check(t.Context(), []standard.ID{x.id})
		var clauses []string
		for _, f := range found {
			clauses = append(clauses, f.Clause[strings.Index(f.Clause, ", ")+2:])
		}
		if err != nil || !names(clauses, x.clause) {
			t.Errorf("%s: %v, %v, want %q", name, found, err, x.clause)
		}
	}
}

// TestCheckFindsEachRuleOfFilesThatIsBroken: of small files that carry others, each with one thing
// that its standard does not take, Check names the clause; of those beside them that are sound
// none.
func TestCheckFindsEachRuleOfFilesThatIsBroken(t *testing.T) { checkRules(t, fileRules(t)) }

// TestCheckFindsEachRuleOfSignaturesThatIsBroken: of small files that are signed.
func TestCheckFindsEachRuleOfSignaturesThatIsBroken(t *testing.T) { checkRules(t, signatureRules(t)) }

// TestCheckFindsEachRuleOfCMapsThatIsBroken: of small files whose fonts have predefined CMaps.
func TestCheckFindsEachRuleOfCMapsThatIsBroken(t *testing.T) { checkRules(t, cmapRules(t)) }

// TestCheckFindsEachRuleOfContentThatIsBroken: of small files with appearances, patterns and fonts.
func TestCheckFindsEachRuleOfContentThatIsBroken(t *testing.T) { checkRules(t, contentRules(t)) }

// TestFilesWithinFilesAreBounded: of files within each other without end the one is told that is
// not judged any more, and so those that carry it; a check that is cancelled ends.
func TestFilesWithinFilesAreBounded(t *testing.T) {
	deep := []byte("text")
	for range 12 {
		deep = carrying(t, "2B", "", "/F(a)/UF(a)", "", deep)
	}
	d, err := edit.Open(bytes.NewReader(deep), int64(len(deep)), edit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := d.Check(t.Context(), []standard.ID{standard.PDFA2b})
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "could not be checked: ") || !strings.Contains(found[0].Message, "Depth") {
		t.Errorf("12 files within each other: %v, %v", found, err)
	}
	// What else is wrong is told too.
	broken := bytes.Replace(deep, []byte("/S/GTS_PDFA1"), []byte("/S/GTS_PDFX1"), 1)
	if d, err = edit.Open(bytes.NewReader(broken), int64(len(broken)), edit.Options{}); err != nil {
		t.Fatal(err)
	}
	found, err = d.Check(t.Context(), []standard.ID{standard.PDFA2b})
	if err != nil || len(found) < 2 {
		t.Errorf("one of them without an output intent: %v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Check(ctx, []standard.ID{standard.PDFA2b}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
