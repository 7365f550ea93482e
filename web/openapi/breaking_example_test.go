package openapi_test

import (
	"fmt"

	"example.com/quire/web/openapi"
)

func ExampleBreaking() {
	committed := []byte(`{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": {"/orders": {"get": {
		"parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 500}}], "responses": {"200": {"description": "OK"}}}}}}`)
	now := []byte(`{"openapi": "3.1.0", "info": {"title": "Shop", "version": "2"}, "paths": {"/orders": {"get": {
		"parameters": [{"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}}], "responses": {"200": {"description": "OK"}}}}}}`)
	changes, err := openapi.Breaking(committed, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range changes {
		fmt.Println(c)
	}
	// Output:
	// GET /orders: query limit: the new description refuses values above maximum 100
}
