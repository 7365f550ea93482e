package fetch

import (
	"fmt"
	"net/http"
	"slices"
)

// Layer wraps a RoundTripper in another one. Every part of this package is one; so is anything of
// your own that has this form.
type Layer func(http.RoundTripper) http.RoundTripper

// Stack puts layers over base, the first one outermost. Layers that are nil are skipped; base nil
// is a new
// *http.Transport with this package's defaults.
func Stack(base http.RoundTripper, layers ...Layer) http.RoundTripper {
	if base == nil {
		base = newTransport(TransportConfig{}.withDefaults())
	}
	for _, layer := range slices.Backward(layers) {
		if layer != nil {
			base = layer(base)
		}
	}
	return base
}

// LayerInfo names a layer and its settings, in words for people.
type LayerInfo struct{ Name, Settings string }

// Describe lists the layers of rt, outermost first. Layers with a method Describe() (name, settings
// string) speak for themselves, of others the type is named. It goes down by methods Unwrap()
// http.RoundTripper and ends where there is none.
func Describe(rt http.RoundTripper) []LayerInfo {
	var list []LayerInfo
	for rt != nil {
		if d, ok := rt.(interface{ Describe() (string, string) }); ok {
			name, settings := d.Describe()
			list = append(list, LayerInfo{name, settings})
		} else {
			list = append(list, LayerInfo{Name: fmt.Sprintf("%T", rt)})
		}
		u, ok := rt.(interface{ Unwrap() http.RoundTripper })
		if !ok {
			break
		}
		rt = u.Unwrap()
	}
	return list
}
