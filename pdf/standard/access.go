package standard

import "example.com/quire/pdf/cos"

// What follows are rules of ISO 14289 about encryption, media, forms and fields of files that are
// read; what this module writes keeps them by how it is made.

// encryption judges the permissions of an encrypted file: bit 10 lets assistive technology have its
// text (ISO 14289-1, 7.16; ISO 32000-2, table 22, has it set always).
func (j *Judge) encryption(d cos.Dict) {
	const accessible = 1 << 9
	if p, ok := cos.As[cos.Int](d.Get("P")); !ok || p&accessible == 0 {
		j.find("S043", clause{ua1: "7.16"}, cos.Ref{}, nil, "an encrypted file that does not let assistive technology have its text (bit 10 of P)")
	}
}

// MediaClip checks the media clip of a rendition: typed says that it has CT, alt is the value of
// Alt, resolved (ISO 14289-1, 7.18.6.2).
func (j *Judge) MediaClip(at cos.Ref, typed bool, alt cos.Object) {
	rule := clause{ua1: "7.18.6.2"}
	if !typed {
		j.find("S044", rule, at, nil, "a media clip without its type (CT)")
	}
	texts, _ := cos.As[cos.Array](alt)
	described := texts != nil && len(texts)%2 == 0
	for i, o := range texts { // a language and a text in turn
		text, ok := cos.TextOf(o)
		described = described && ok && (i%2 == 0 || text != "")
	}
	if !described {
		j.find("S044", rule, at, nil, "a media clip without an alternative text in each language (Alt)")
	}
}

// DrawnAgain reports a form with content of the structure tree that is drawn more than once: the
// positions of its elements would be ambiguous (ISO 14289-1, 7.20).
func (j *Judge) DrawnAgain(form cos.Ref) {
	j.find("S042", clause{ua1: "7.20"}, form, nil, "a form with content of the structure tree that is drawn more than once")
}

// RichValue checks the value of a text field that has a rich one too (ISO 14289-2, 8.10.3.3).
func (j *Judge) RichValue(field cos.Ref, rich []byte, value string, valued bool) {
	rule := clause{ua2: "8.10.3.3"}
	switch {
	case !valued:
		j.find("S044", rule, field, nil, "a text field with a rich value (RV) and without a value (V)")
	case !sameText(rich, value):
		j.find("S044", rule, field, nil, "a text field whose rich value is not its value")
	}
}

// SignaturePicture reports the appearance of a signature with an image without alternative text in
// an element, a sequence or the annotation (ISO 14289-2, 8.10.3.5).
func (j *Judge) SignaturePicture(field cos.Ref) {
	j.find("S028", clause{ua2: "8.10.3.5"}, field, nil, "a signature whose picture has no alternative text")
}

// Targets reports an element with links that lead to different places (ISO 14289-2, 8.2.5.20).
func (j *Judge) Targets(elem cos.Ref) {
	j.find("S041", clause{ua2: "8.2.5.20"}, elem, nil, "links to different places in one element")
}
