package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestParcels(t *testing.T) {
	app, err := newApp()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodGet, "/parcels/7", "", http.StatusNotFound, "no such parcel"},
		{http.MethodPut, "/parcels/7", `{"to": "Zoë", "grams": 350}`, http.StatusNoContent, ""},
		{http.MethodGet, "/parcels/7", "", http.StatusOK, `{"to":"Zoë","grams":350}`},
		{http.MethodPut, "/parcels/7", `{"to": "Zoë", "gramms": 350}`, http.StatusBadRequest, `did you mean \"grams\"?`},
		{http.MethodPut, "/parcels/7", `{"to": "Zoë", "grams": 0}`, http.StatusUnprocessableEntity, "weighs something"},
		{http.MethodGet, "/parcels/x", "", http.StatusNotFound, ""},
		{http.MethodDelete, "/parcels/7", "", http.StatusMethodNotAllowed, ""},
	} {
		req := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, strings.NewReader(tt.body))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		app.ServeHTTP(w, req)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s %s: %d %s, want %d %s", tt.method, tt.path, tt.body, w.Code, w.Body, tt.status, tt.want)
		}
	}
}
