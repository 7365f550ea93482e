package middleware_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

// TestCSRF: the same requests to a mux of net/http and to a group of an App that
// itself trusts more origins.
func TestCSRF(t *testing.T) {
	trusting := http.NewCrossOriginProtection()
	for _, origin := range []string{"https://app.example", "https://partner.example"} {
		if err := trusting.AddTrustedOrigin(origin); err != nil {
			t.Fatal(err)
		}
	}
	for _, require := range []bool{false, true} {
		o := middleware.CSRFOptions{TrustedOrigins: []string{"https://app.example"}, RequireOrigin: require}
		app, err := web.New(web.Options{CrossOrigin: trusting})
		if err != nil {
			t.Fatal(err)
		}
		group := app.Group("/", must(t)(middleware.CSRF(o)))
		mux := http.NewServeMux()
		for _, m := range []string{"GET", "POST", "DELETE"} {
			group.Handle(m, "/x", func(c *web.Context) error { return c.String(200, "done") })
			mux.HandleFunc(m+" /x", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("done")) })
		}
		wrap, err := middleware.CSRFHandler(o)
		if err != nil {
			t.Fatal(err)
		}
		bare := 200
		if require {
			bare = 403
		}
		for _, tt := range []struct {
			method, site, origin string
			want                 int
		}{
			{"GET", "", "", 200},
			{"HEAD", "", "", 200},
			{"GET", "cross-site", "https://evil.example", 200},
			{"POST", "same-origin", "https://example.com", 200},
			{"POST", "none", "", 200},
			{"POST", "cross-site", "https://evil.example", 403},
			{"DELETE", "cross-site", "https://evil.example", 403},
			{"POST", "same-site", "https://other.example.com", 403},
			{"POST", "cross-site", "https://app.example", 200},
			{"POST", "cross-site", "https://partner.example", 403}, // the App's word is wider
			{"POST", "cross-site", "", 403},
			{"POST", "", "http://example.com", 200},
			{"POST", "", "http://evil.example", 403},
			{"POST", "", "null", 403},
			{"POST", "", "", bare},
			{"DELETE", "", "", bare},
		} {
			for name, h := range map[string]http.Handler{"App": app, "mux": wrap(mux)} {
				r := httptest.NewRequestWithContext(t.Context(), tt.method, "/x", nil)
				if tt.site != "" {
					r.Header.Set("Sec-Fetch-Site", tt.site)
				}
				if tt.origin != "" {
					r.Header.Set("Origin", tt.origin)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != tt.want || tt.want == 403 && w.Header().Get("Cache-Control") != "no-store" || tt.want == 200 && tt.method != "HEAD" && w.Body.String() != "done" {
					t.Errorf("%s, RequireOrigin %v, %s %q %q: %d %s, want %d", name, require, tt.method, tt.site, tt.origin, w.Code, w.Body, tt.want)
				}
			}
		}
	}
	for _, bad := range []string{"", "app.example", "https://app.example/", "https://app.example/path"} {
		o := middleware.CSRFOptions{TrustedOrigins: []string{bad}}
		if _, err := middleware.CSRF(o); err == nil {
			t.Errorf("%q was taken", bad)
		}
		if _, err := middleware.CSRFHandler(o); err == nil {
			t.Errorf("%q was taken for a handler", bad)
		}
	}
}

func ExampleCSRFHandler() {
	protect, err := middleware.CSRFHandler(middleware.CSRFOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /transfer", func(http.ResponseWriter, *http.Request) {})
	r := httptest.NewRequest("POST", "/transfer", nil) //nolint:noctx // an example of one line
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	protect(mux).ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output: 403
}
