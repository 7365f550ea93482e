package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestShow(t *testing.T) {
	api := httptest.NewServer(flaky())
	defer api.Close()
	var out strings.Builder
	if err := show(t.Context(), &out, api.URL); err != nil {
		t.Fatal(err)
	}
	const want = "attempt 1: status 503\nattempt 2: status 503\nattempt 3: ok\n{\n  \"EUR\": 1,\n  \"INR\": 90.25\n}\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestShowFailure(t *testing.T) {
	api := httptest.NewServer(http.NotFoundHandler())
	gone := api.URL
	var out strings.Builder
	if err := show(t.Context(), &out, gone); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("not found: %v", err)
	}
	api.Close()
	if err := show(t.Context(), &out, gone); err == nil || !strings.Contains(err.Error(), "after 3 attempts") {
		t.Errorf("no server: %v", err)
	}
	if out.String() != "" {
		t.Errorf("printed %q", out.String())
	}
}
