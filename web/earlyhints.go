package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// EarlyHints sends 103 with the links, each the value of a Link field (RFC 8297):
//
//	c.EarlyHints("</app.css>; rel=preload; as=style")
//
// A client may begin to load them while the handler still works. The answer has the fields too.
// Nothing else of the header is sent yet. Hints may be sent several times; links of before are not
// repeated in the next hint. HTTP/1.0 has none, so such a client gets the fields with the answer
// alone.
//
// Danger: a few old HTTP/1.1 clients take any first status for the last. Browsers use hints over
// HTTP/2 only.
func (c *Context) EarlyHints(links ...string) error {
	c.live()
	if err := c.mayAnswer(http.StatusOK); err != nil {
		return err
	}
	for _, l := range links {
		if !strings.HasPrefix(l, "<") || !strings.Contains(l, ">") || !validHeaderValue(l) {
			return fmt.Errorf("web: link %q: want <target>; rel=relation", l)
		}
	}
	h := c.w.Header()
	if len(links) > 0 && c.req.ProtoAtLeast(1, 1) {
		kept := maps.Clone(h)
		clear(h)
		h["Link"] = slices.Clone(links)
		c.w.WriteHeader(http.StatusEarlyHints)
		clear(h)
		maps.Copy(h, kept)
	}
	h["Link"] = append(slices.Clip(h["Link"]), links...)
	return nil
}
