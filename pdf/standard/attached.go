package standard

import (
	"regexp"

	"example.com/quire/pdf/cos"
	"example.com/quire/pdf/doc"
)

// What follows are the rules of files that a document carries (ISO 19005-1, 6.1.11; 19005-2 and 3,
// 6.8; 19005-4, 6.9 and annexes A and B; ISO 14289-1, 7.11, and 2, 8.9.2.4.10 and 8.14.1).

// WhatFilesMustBe returns the standards of which a file within one that claims these must keep one,
// at any level; none: it may be anything, or may not be there at all.
func WhatFilesMustBe(claims []ID) []ID {
	switch id := archival(claims); {
	case id == PDFA4:
		return []ID{PDFA1b, PDFA2b, PDFA4}
	case ids[id].part == "2":
		return []ID{PDFA1b, PDFA2b}
	default:
		return nil
	}
}

// Specification is a file specification dictionary of a file that is read.
type Specification struct {
	Dict       cos.Dict // with F, UF, AFRelationship and Desc resolved
	Named      bool     // it is in the name tree of embedded files
	Associated bool     // the document or a part of it is associated with it
}

// Specification checks a file specification.
func (j *Judge) Specification(r cos.Ref, s Specification) {
	j.specification(r, s.Dict, s.Associated, nil)
	if s.Named && s.Dict.Get("Desc") == nil {
		j.find("S049", clause{ua2: "8.14.1"}, r, nil, "an embedded file without a description (Desc)")
	}
}

// specification judges a file specification. Of part 3 the relationship is asked of all of them,
// also of files that are elsewhere.
func (j *Judge) specification(r cos.Ref, d cos.Dict, associated bool, src *doc.Source) {
	if name(d, "AFRelationship") == "" {
		rule := clause{a3: "6.8"}
		if d.Get("EF") != nil {
			rule.a4 = "6.9"
		}
		j.find("S049", rule, r, src, "a file specification without AFRelationship")
	}
	if !associated {
		j.find("S049", clause{a3: "6.8"}, r, src, "a file specification that neither the document nor a part of it is associated with (AF)")
	}
	if d.Get("EF") == nil {
		return
	}
	j.files = j.files || !j.read
	if at := noFiles(j.claims); at != "" && (first1(j.claims) || !j.read) {
		j.add("S049", at, r, src, "an attached file")
	}
	for _, key := range [...]cos.Name{"F", "UF"} {
		text, ok := cos.TextOf(d.Get(key))
		rule := clause{a2: "6.8", a4: "6.9", ua1: "7.11"}
		if ok {
			rule.a2, rule.a4 = "", ""
		}
		if text == "" {
			j.find("S049", rule, r, src, "an attached file without %s", string(key))
		}
	}
}

// mediaType is what the subtype of an embedded file stream has to be (ISO 32000-2, table 44).
var mediaType = regexp.MustCompile(`^[-\w+.]+/[-\w+.]+$`)

func (j *Judge) mediaType(r cos.Ref, t cos.Name, src *doc.Source) {
	if !mediaType.MatchString(string(t)) {
		j.find("S049", clause{a3: "6.8", a4: "6.9"}, r, src, "an attached file without its media type")
	}
}

// Embedded checks an embedded file of an existing file by its media type, and by the reason why it
// conforms to none of [WhatFilesMustBe]; empty: it conforms to one, or need not.
func (j *Judge) Embedded(r cos.Ref, media cos.Name, why string) {
	j.mediaType(r, media, nil)
	if at := noFiles(j.claims); at != "" && why != "" {
		j.add("S049", at, r, nil, "an attached file that is not PDF/A itself: %s", why)
	}
}

// Unjudged reports an embedded file that must conform to one of [WhatFilesMustBe] and could not be
// checked because of a limit.
func (j *Judge) Unjudged(r cos.Ref, err error) {
	if at := noFiles(j.claims); at != "" {
		j.add("S049", at, r, nil, "an attached file that could not be checked: %v", err)
	}
}

// AttachedByAnnotation checks the file specification of a file attachment annotation.
func (j *Judge) AttachedByAnnotation(r cos.Ref, spec cos.Dict) {
	if name(spec, "AFRelationship") == "" {
		j.find("S049", clause{ua2: "8.9.2.4.10"}, r, nil, "a file attachment annotation whose file specification has no AFRelationship")
	}
}
